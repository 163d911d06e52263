interface KeyKind {
  readonly prefix: string;
  /** Why New Relic refuses it for reading, as a predicate. */
  readonly refusal: string | undefined;
}

export const isLicense = 'is a license key, which only sends data to New Relic';

/** The kinds of New Relic's keys. */
export const keyKinds: readonly KeyKind[] = [
  { prefix: 'NRAK', refusal: undefined },
  { prefix: 'NRAL', refusal: isLicense },
  { prefix: 'NRLIC', refusal: isLicense },
  { prefix: 'NRII', refusal: 'is an insert key, which only sends data to New Relic' },
  { prefix: 'NRIQ', refusal: 'is a query key of Insights, which these APIs do not accept' },
  { prefix: 'NRRA', refusal: 'is a REST API key, a kind that New Relic ended in 2025' },
  { prefix: 'NRAA', refusal: 'is an admin key, a kind that New Relic ended in 2020' },
  { prefix: 'NRJS', refusal: 'is a browser key, which only sends data to New Relic' },
];

/** The beginnings of New Relic's keys: those for reading, for sending, and those that it has retired. */
export const keyPrefix: string = `(?:${keyKinds.map(({ prefix }) => prefix).join('|')})-`;

/** License keys that do not begin like that. */
const licenseKey = '\\b(?:[0-9a-f]{36}NRAL|eu01xx[0-9a-f]{30,34}(?:NRAL)?)\\b';

/**
 * What may be a key in a configuration file: up to the next white space, because whoever writes one there
 * may also mistype it. So many hexadecimal digits are a license key rather than a digest. One may stand in
 * another, so each is looked for in turn.
 */
export const keysInFile: readonly string[] = [
  `${keyPrefix}\\S+`,
  licenseKey,
  '\\b[0-9a-f]{40,}\\b',
];

/** Everything in a text that looks like one of New Relic's keys, registered or not. */
const looksLikeKey = new RegExp(`${keyPrefix}[\\w-]+|${licenseKey}`, 'gi');

/**
 * What may be a key without its prefix in a foreign text: a run of letters and digits with at least one digit. Words
 * such as `NerdGraphGetAuthorizedAccountsCommand` stay: they are what one searches for. So do ids with joints.
 */
const mayBeKey = /(?=[a-z]*\d)[a-z\d]{20,}/gi;

const keyBeginning = new RegExp(`^\\s*${keyPrefix}`, 'i');

/** Whether a value begins like one of New Relic's keys. */
export function beginsLikeKey(text: string): boolean {
  return keyBeginning.test(text);
}

/** Stands in place of a secret. */
export const redacted = '[redacted]';

/** The text without anything that looks like a key. */
export function withoutKeys(text: string): string {
  return text.replace(looksLikeKey, redacted);
}

/** A foreign text without anything that may be a key: a gateway may repeat the request in its answer. */
export function withoutForeignKeys(text: string): string {
  return text.replace(looksLikeKey, '[removed]').replace(mayBeKey, '[removed]');
}
