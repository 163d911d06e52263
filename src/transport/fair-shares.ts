/**
 * Max-min fair parts of a limit: no part can grow without taking from a smaller one, and none is
 * larger than its demand as long as others want more. What all of them leave is divided equally. A
 * demand that is not known is `Infinity`.
 */
export function fairShares(limit: number, demands: readonly number[]): readonly number[] {
  const smallestFirst = demands.map((demand, index) => ({ demand, index }));
  smallestFirst.sort((a, b) => a.demand - b.demand);
  const shares = demands.map(() => 0);
  let left = limit;
  for (const [served, { demand, index }] of smallestFirst.entries()) {
    const share = Math.min(demand, left / (demands.length - served));
    shares[index] = share;
    left -= share;
  }
  return shares.map((share) => share + left / demands.length);
}
