/**
 * The time in which an account is observed. A call that ends after its account was removed must not
 * bring the account's series back.
 */
export interface AccountLifetime {
  readonly account: string;
  /** Runs `write`, unless the account was removed. */
  record(write: () => void): void;
  end(): void;
}

/** `onRecord` is called after every `write` that was run. */
export function createAccountLifetime(account: string, onRecord: () => void): AccountLifetime {
  let hasEnded = false;
  return {
    account,
    record: (write) => {
      if (hasEnded) return;
      write();
      onRecord();
    },
    end: () => {
      hasEnded = true;
    },
  };
}
