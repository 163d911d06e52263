import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { toolOrSkip } from '../support/tools.ts';
import { alone, causes, whatIsSent } from './alert-causes.ts';
import { endText, sentText, tooMuchIn } from './alert-table.ts';

const promtool = toolOrSkip('promtool');
const runbook = readDocument('docs/runbook.md').text;
/** Those whose effects are the most; `alerts-in-order.long.program.test.ts` has all. */
const quick = causes.filter(({ name }) =>
  ['New Relic cannot be reached', 'every call gets 429'].includes(name),
);

describe.skipIf(promtool.skip)(`one alert is sent of one cause${promtool.note}`, () => {
  it('for a part of them here', () => {
    expect(quick).toHaveLength(2);
  });

  it.each(quick)('$name', async (cause) => {
    const sent = await whatIsSent(cause, alone, promtool.path);

    expect(tooMuchIn(cause, sent)).toEqual([]);
    expect(runbook).toContain(
      `\n| ${cause.name} | ${sentText(cause, sent)} | ${endText(cause, sent)} |\n`,
    );
  });
});
