/** Why the server cannot listen: a closed set. */
export type ListenFailure = 'bad_address' | 'in_use' | 'denied' | 'unavailable';

/** The only error of `listen`. Its message names the address, the reason and the remedy. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
  readonly kind: ListenFailure;

  constructor(kind: ListenFailure, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.kind = kind;
  }
}

/** Where to listen. Without a host it means all interfaces, IPv6 and IPv4. */
export interface ListenAddress {
  readonly host: string | undefined;
  /** 0 means a free port. */
  readonly port: number;
}

const form = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+(?:%[\w.-]+)?)\]|(?<host>[^\s:[\]/]*)):(?<port>\d{1,5})$/;
const highestPort = 65_535;

/**
 * Parses an address in the notation of Prometheus: `:9126`, `127.0.0.1:9126`, `[::1]:9126`.
 *
 * @throws {ListenError} of kind `bad_address`.
 */
export function parseListenAddress(text: string): ListenAddress {
  const groups = form.exec(text)?.groups;
  const port = Number(groups?.['port'] ?? Number.NaN);
  if (groups === undefined || port > highestPort) {
    const reason =
      groups === undefined
        ? 'it is not of the form [host]:port'
        : `the port is above ${highestPort}`;
    throw new ListenError(
      'bad_address',
      `Cannot listen on "${text}": ${reason}. ` +
        'Write for example ":9126", "127.0.0.1:9126" or "[::1]:9126".',
    );
  }
  const host = groups['ipv6'] ?? groups['host'];
  return { host: host === '' ? undefined : host, port };
}

/** Turns an error of the operating system into one that says what to do. */
export function listenErrorOf(text: string, cause: unknown): ListenError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'EADDRINUSE':
      return new ListenError(
        'in_use',
        `Cannot listen on "${text}": the port is in use by another process. ` +
          'Stop that process, or choose another port with --web.listen-address.',
        cause,
      );
    case 'EACCES':
    case 'EPERM':
      return new ListenError(
        'denied',
        `Cannot listen on "${text}": the system does not permit it. ` +
          'Choose a port above 1023, or give the process the right to use this one.',
        cause,
      );
    default:
      return new ListenError(
        'unavailable',
        `Cannot listen on "${text}": ${cause instanceof Error ? cause.message : String(cause)}. ` +
          'Choose an address of this machine; ":9126" listens on all of them.',
        cause,
      );
  }
}
