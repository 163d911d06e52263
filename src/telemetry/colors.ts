type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Whether to write colours: only to a terminal. `FORCE_COLOR` decides otherwise (`0` and `false` mean
 * never), then `NO_COLOR` (see https://no-color.org: every value counts, except the empty one), then
 * `TERM=dumb`. Node.js itself reads them in the same order.
 */
export function isColorWanted(
  stream: { readonly isTTY?: boolean | undefined },
  env: Environment,
): boolean {
  const forced = env['FORCE_COLOR'];
  if (forced !== undefined) return forced !== '0' && forced !== 'false';
  if ((env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb') return false;
  return stream.isTTY === true;
}
