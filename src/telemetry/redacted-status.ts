import type { AccountDetails, PolledStatus } from '../model/status.ts';
import type { Redactor } from './redactor.ts';

/** The vendor's words in an error may hold a secret. */
export function redacted(text: string | undefined, redactor: Redactor): string | undefined {
  return text === undefined ? undefined : redactor.redact(text);
}

export function redactedAccount(account: AccountDetails, redactor: Redactor): AccountDetails {
  const { error, key, queries } = account;
  return {
    ...account,
    error: redacted(error, redactor),
    ...(queries && { queries: queries.map((query) => redactedPoll(query, redactor)) }),
    key: { ...key, problem: redacted(key.problem, redactor) },
  };
}

/** Its message is redacted only once it is read: a page shows 200 of ten thousand. */
export function redactedPoll<One extends PolledStatus>(one: One, redactor: Redactor): One {
  if (one.failure === undefined) return one;
  const { message, ...rest } = one.failure;
  const failure = {
    ...rest,
    get message() {
      return redactor.redact(message);
    },
  };
  return { ...one, failure };
}
