/** Holds the API key of one account, wherever it comes from. */
export interface KeyProvider {
  /** The key to send now. Never throws. */
  current(): string;
  /** Reads the key again; true if it changed. An unreadable key counts as unchanged. */
  reload(): Promise<boolean>;
}
