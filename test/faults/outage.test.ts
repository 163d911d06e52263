import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { slow } from '../support/slow.ts';
import { withTimedFaults } from './fault-bench.ts';

describe('4.3 11.2 forty minutes in which New Relic answers nothing by the REST API', () => {
  it('are one line for each application whose values were dropped', slow, async () => {
    const when = { fromMs: 5 * minuteMs, untilMs: 45 * minuteMs };
    const script = [{ when, fault: { kind: 'silence' } }] as const;
    await withTimedFaults({ script }, async (bench) => {
      await bench.advance(when.untilMs);
      const dropped = bench.logs('values dropped').map(({ app_id: id }) => id);
      await bench.advance(3 * minuteMs);

      expect(dropped).toHaveLength(2);
      expect(new Set(dropped)).toEqual(new Set(['101', '102']));
      expect(bench.logs('values dropped')).toHaveLength(2);
      expect(bench.logs('values are back')).toHaveLength(2);
      // Of a poll that fails as the list does, its line tells.
      expect(bench.logs('poll failed').length).toBeLessThanOrEqual(2);
      expect(bench.logs('discovery failed')).toHaveLength(1);
    });
  });
});
