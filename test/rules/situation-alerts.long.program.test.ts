import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { alertOfKind } from '../docs/problem-table.ts';
import { aSituation, type Situation } from '../simulated/situation-bench.ts';
import { moreSituations, situations } from '../simulated/situation-rows.ts';
import { toolOrSkip } from '../support/tools.ts';
import { alertTimeline } from './alert-timeline.ts';
import { Scrapes } from './recorded-series.ts';

const promtool = toolOrSkip('promtool');
/** Long enough for the slowest alert, but for those of a metric or query without a value. */
const lastMinute = 75;

/** Which alerts are sent in the situation, each once for all that it names, and when. */
async function sentIn(situation: Situation): Promise<string> {
  const { bench } = await aSituation(situation);
  const { clock } = bench.platform;
  const scrapes = new Scrapes('job="newrelic-exporter",instance="one"', clock.wallMs());
  for (let minute = 0; minute <= lastMinute; minute += 1) {
    scrapes.add(minute, `${await bench.page()}${await bench.daemon.metrics.text()}`);
    await clock.advance(minuteMs);
  }
  const series = scrapes.written(lastMinute + 1);
  const { begun } = alertTimeline(promtool.path ?? '', series, { lastMinute, interval: '1m' });
  return begun.map(({ alert, minute, count }) => `${count} ${alert} at ${minute}`).join(', ');
}

describe.skipIf(promtool.skip)(`what is wrong${promtool.note}`, () => {
  const sent = new Map<string, string>();

  it.each([...situations, ...moreSituations])('is sent: $what', async (situation) => {
    const text = await sentIn(situation);
    sent.set(situation.what, text);

    const kinds = [...(situation.own ?? []), ...(situation.ofProcess ?? [])];
    const alerts = new Set(kinds.map((kind) => alertOfKind[kind]));
    // Where the application itself is published, its values are what is missed.
    if (kinds.includes('application_failing')) alerts.add('NewRelicExporterDataStale');
    const names = text.match(/NewRelicExporter\w+/gu) ?? [];
    expect(names.filter((name) => !alerts.has(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('as the golden file has it (write it anew with "-u")', async () => {
    const lines = Array.from(
      sent,
      ([what, text]) => `${what}: ${text === '' ? 'nothing' : text}\n`,
    );

    await expect(lines.join('')).toMatchFileSnapshot('../golden/situation-alerts.txt');
  });
});
