import type { Call, CallContext, PollCalls } from '../../src/model/source.ts';

/** Makes all calls of a stage at once, as they are taken: nothing waits for a turn. */
export function callsAtOnce(context: CallContext): PollCalls {
  return {
    run: async (size, calls) => {
      const all = { [Symbol.iterator]: (): Iterator<Call, undefined> => calls };
      const made = Array.from(all, async (call) => call(context));
      if (made.length > size()) throw new Error('a stage had more calls than it said');
      await Promise.all(made);
    },
  };
}
