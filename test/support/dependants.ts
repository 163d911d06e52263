/**
 * How many signals of `AbortSignal.any` Node.js keeps at what they depend on: as long as that lives, whatever
 * becomes of them. Its set is none of `Set`.
 */
export function dependantsOf(signal: AbortSignal): number {
  const kept = Object.getOwnPropertySymbols(signal).filter((one) =>
    /dependant/iu.test(String(one)),
  );
  return kept.reduce((sum, one) => sum + sizeOf(Reflect.get(signal, one)), 0);
}

function sizeOf(set: unknown): number {
  const size: unknown = typeof set === 'object' && set !== null ? Reflect.get(set, 'size') : 0;
  return typeof size === 'number' ? size : 0;
}
