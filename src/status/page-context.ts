/** What a page needs to know of the server that shows it. */
export interface PageContext {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
  /** The `Host` header of the request; it is believed only as far as it looks like one. */
  readonly host: string | undefined;
  /** Addresses of the shards, with `{shard}` for the number; empty if they are not known. */
  readonly shardAddress: string;
  /** Whether the server speaks TLS. */
  readonly hasTls: boolean;
  /** Whether the server asks for a user and a password. */
  readonly hasAuth: boolean;
}

/** The path relative to the pages, so that they work behind a proxy that adds a prefix. */
export function relativePath(path: string): string {
  return `./${path.replace(/^\/+/, '')}`;
}
