import { constants, inflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { createOwnMetrics, type OwnPart } from '../../src/exposition/own-metrics.ts';

const quiet = '# HELP a_total A.\n# TYPE a_total counter\na_total 0\n';
const busy = (value: number): string => `# HELP b B.\n# TYPE b gauge\nb ${value}\n`;

async function unpacked(part: OwnPart): Promise<string> {
  const { deflated } = await part.packed();
  return inflateRawSync(deflated, { finishFlush: constants.Z_SYNC_FLUSH }).toString();
}

function textsOf(parts: readonly OwnPart[]): readonly string[] {
  return parts.map(({ identity }) => identity.toString());
}

describe('createOwnMetrics', () => {
  it('gives each part as it is in the text format', async () => {
    const own = createOwnMetrics({ selfMetrics: async () => [quiet, busy(1)] });

    expect(textsOf(await own.parts('text'))).toEqual([quiet, busy(1)]);
  });

  it('names counters as OpenMetrics does, and ends the page', async () => {
    const own = createOwnMetrics({ selfMetrics: async () => [quiet, busy(1)] });

    expect(textsOf(await own.parts('openmetrics'))).toEqual([
      '# HELP a A.\n# TYPE a counter\na_total 0\n',
      busy(1),
      '# EOF\n',
    ]);
  });

  it.each([{ format: 'text' }, { format: 'openmetrics' }] as const)(
    'compresses each part, of any size, in $format',
    async ({ format }) => {
      const large = busy(1) + '# a line that takes room\n'.repeat(20_000);
      const own = createOwnMetrics({ selfMetrics: async () => [quiet, large] });

      const parts = await own.parts(format);

      expect(await Promise.all(parts.map(unpacked))).toEqual(textsOf(parts));
    },
  );

  it('compresses only what has changed since the last scrape in the same format', async () => {
    let value = 1;
    const own = createOwnMetrics({ selfMetrics: async () => [quiet, busy(value)] });
    const packedParts = async (format: 'text' | 'openmetrics'): Promise<readonly Buffer[]> => {
      const parts = await own.parts(format);
      return (await Promise.all(parts.map(async (part) => part.packed()))).map(
        ({ deflated }) => deflated,
      );
    };
    const [before, beforeOpen] = [await packedParts('text'), await packedParts('openmetrics')];
    value = 2;
    const [after, afterOpen] = [await packedParts('text'), await packedParts('openmetrics')];

    expect(after.map((part, index) => part === before[index])).toEqual([true, false]);
    expect(afterOpen.map((part, index) => part === beforeOpen[index])).toEqual([true, false, true]);
    expect(after[0]).not.toBe(afterOpen[0]);
  });
});
