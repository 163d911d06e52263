import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { toolOrSkip } from '../support/tools.ts';
import { alone, type Cause, causes, pairs, scenesOf, whatIsSent } from './alert-causes.ts';
import { rowOf, tooMuchIn, withRows } from './alert-table.ts';
import type { Timeline } from './alert-timeline.ts';

const promtool = toolOrSkip('promtool');
const matrix = causes.flatMap((cause) => scenesOf(cause).map((scene) => ({ cause, scene })));
const sent = new Map<Cause, Map<string, Timeline>>();

describe.skipIf(promtool.skip)(`one alert is sent of one cause${promtool.note}`, () => {
  it.each(matrix)('$cause.name: $scene.name', async ({ cause, scene }) => {
    const timeline = await whatIsSent(cause, scene, promtool.path);
    sent.set(cause, (sent.get(cause) ?? new Map()).set(scene.name, timeline));

    expect(tooMuchIn(cause, timeline)).toEqual([]);
  });

  it('as the runbook has it (write it anew with "npx vitest run test/rules/alerts-in-order.long.program.test.ts -u")', async () => {
    const rows = causes.map((cause) => rowOf(cause, sent.get(cause) ?? new Map()));
    const { text } = readDocument('docs/runbook.md');

    await expect(withRows(text, rows)).toMatchFileSnapshot('../../docs/runbook.md');
  });
});

describe.skipIf(promtool.skip)(`one alert is sent of each of two causes${promtool.note}`, () => {
  it.each(pairs)('$name', async (pair) => {
    const { begun } = await whatIsSent(pair, alone, promtool.path);

    expect(begun.map(({ alert }) => alert)).toEqual(pair.alerts);
  });
});
