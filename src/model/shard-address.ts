/** What stands for the number of a shard in the addresses. */
const placeholder = '{shard}';

const hostAndPort =
  /^(?<host>\[[0-9a-f:.]+\]|[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_.])?)(?::(?<port>\d{1,5}))?$/iu;

/** Whether a text is a host name or an address, perhaps with a port. */
export function isHostAddress(text: string): boolean {
  const groups = hostAndPort.exec(text)?.groups;
  const port = groups?.['port'];
  return (
    groups !== undefined && (port === undefined || (Number(port) > 0 && Number(port) < 65_536))
  );
}

/** Whether such an address has a port. */
export function hasPort(address: string): boolean {
  return /:\d+$/u.test(address);
}

/** The address of one shard. */
export function shardAddressOf(template: string, ordinal: number): string {
  return template.replaceAll(placeholder, String(ordinal));
}

/** Whether a text gives every shard an address of its own. */
export function isShardAddress(template: string): boolean {
  const address = shardAddressOf(template, 0);
  return template !== address && isHostAddress(address) && hasPort(address);
}
