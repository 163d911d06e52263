/** A user key is the prefix and 27 characters. */
const userKeyPrefix = 'NRAK-';
const userKeyLength = 32;

/** Why a key will probably be refused. Neither text holds any part of the key. */
export interface KeyDoubt {
  /** A predicate, such as "is a license key". */
  readonly problem: string;
  readonly help: string;
}

interface KeyKind {
  readonly form: RegExp;
  readonly problem: string;
}

const userKeyHelp =
  'create a key of type "User" in New Relic: user menu, API keys; it begins with NRAK-';

/** Keys of the vendor that the API for reading does not accept. The first form that fits counts. */
const otherKinds: readonly KeyKind[] = [
  {
    form: /^(?:NRAL|NRLIC)-|NRAL$|^(?:eu01xx)?[0-9a-f]{34,40}$/iu,
    problem: 'is a license key, which only sends data to New Relic',
  },
  { form: /^NRII-/iu, problem: 'is an insert key, which only sends data to New Relic' },
  { form: /^NRIQ-/iu, problem: 'is a query key of Insights, which these APIs do not accept' },
  { form: /^NRRA-/iu, problem: 'is a REST API key, a kind that New Relic ended in 2025' },
  { form: /^NRAA-/iu, problem: 'is an admin key, a kind that New Relic ended in 2020' },
  { form: /^NRJS-/iu, problem: 'is a browser key, which only sends data to New Relic' },
];

/**
 * Whether a key is of a kind that New Relic refuses. Behind another address than New Relic's own
 * (`isOfficial` is false) a key may have any form, so that only known wrong kinds count.
 */
export function keyDoubt(key: string, isOfficial: boolean): KeyDoubt | undefined {
  const other = otherKinds.find(({ form }) => form.test(key));
  if (other !== undefined) return { problem: other.problem, help: userKeyHelp };
  if (!isOfficial) return undefined;
  if (!key.toUpperCase().startsWith(userKeyPrefix)) {
    return {
      problem: 'is not a user key of New Relic, which begins with NRAK-',
      help: userKeyHelp,
    };
  }
  if (key.length >= userKeyLength) return undefined;
  const problem = `has ${key.length} characters, but a user key has ${userKeyLength}`;
  return { problem, help: 'copy the whole key' };
}
