import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { PollOutcome } from '../../../src/model/poll-outcome.ts';
import { seriesOf } from '../../../src/model/polled-series.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import type { ApplicationQuestion } from '../../../src/model/source.ts';
import { aMetric, aSelected, throughputSeries } from '../../support/builders.ts';
import { aNerdGraphSource, polled } from './a-nerdgraph-source.ts';
import {
  type Answer,
  type AskedNrql,
  answering,
  apart,
  ofHost,
  row,
  type VendorRow,
} from './a-nerdgraph-vendor.ts';

const toMs = Date.UTC(2026, 8, 1, 9, 57);
const broken = new ApiError('server', 'it broke');
const refused = new ApiError('auth', 'refused', { status: 401 });
const deadline = new ApiError('timeout', 'time is over');
const none = [undefined, undefined];
const shop = aSelected({ hostIds: ['a', 'b', 'c'] });

/** Polls one application with one answer after the other, and gives the last outcome. */
async function outcomeOf(
  selected: SelectedApplication,
  answers: readonly ((asked: AskedNrql) => Answer)[],
  overrides: Partial<ApplicationQuestion> = {},
) {
  let poll = 0;
  const bench = aNerdGraphSource(answering((asked) => answers[poll]?.(asked) ?? []));
  let outcome: PollOutcome | undefined;
  for (poll = 0; poll < answers.length; poll += 1) {
    outcome = (await polled(bench, [selected], overrides)).outcomes.get('1');
  }
  if (outcome === undefined) throw new Error('no outcome');
  return { ...bench, outcome, hosts: Object.fromEntries(outcome.reading?.hosts ?? []) };
}

describe('the values of an application', () => {
  const seen = apart([row(5, 5, 5)], [ofHost('a', 5, 5, 5)]);
  const seenOfWeb = apart([row(5, 0, 5)]);
  const seenOfHost = apart([row(5, 0, 5)], [ofHost('a', 0, 5, 5)]);
  it.each<[string, readonly VendorRow[], readonly unknown[], ((asked: AskedNrql) => Answer)?]>([
    ['calls a minute', [row(50, 10)], [10, 2]],
    ['fractions', [row(1)], [0.2, undefined]],
    ['0 for what it has had before, if it is there', [row(0, 0, 5)], [0, undefined], seenOfWeb],
    ['nothing for what only a host has had', [row(0, 0, 5)], [0, undefined], seenOfHost],
    ['nothing if it is not there', [], none, seen],
    ['its calls without a heartbeat, and no 0', [row(5)], [1, undefined], seen],
    ['0 if New Relic says that there is nothing', [row(null, null, 5)], [0, undefined], seenOfWeb],
    ['nothing of what cannot be read', [row('x', 5, 5)], [undefined, 1], seenOfWeb],
  ])('are %s', async (_, rows, is, before) => {
    const { outcome } = await outcomeOf(shop, [...(before ? [before] : []), apart(rows)]);

    expect(outcome.reading).toMatchObject({ application: is, windowEndMs: toMs });
    expect(outcome).toMatchObject({ failed: new Set(), error: undefined, gone: false });
  });

  type Scaled = readonly [string, typeof throughputSeries, readonly number[], readonly unknown[]];
  it.each<Scaled>([
    ['in the order of its series', throughputSeries.toReversed(), [1, 1], [2, 1]],
    ['multiplied by the scale of each', throughputSeries, [60, -1], [60, -2]],
    ['left out if a scale makes them infinite', throughputSeries, [1, 1e308], [1, undefined]],
  ])('are %s', async (_, all, scales, is) => {
    const series = all.map((one, at) => ({ ...one, scale: scales[at] ?? 1 }));
    const { outcome, failures } = await outcomeOf(aSelected({}, { series }), [apart([row(5, 10)])]);

    expect(outcome.reading).toMatchObject({ series, application: is });
    expect(failures).toEqual(is.includes(undefined) ? ['sample not_finite'] : []);
  });

  it('are never below zero, unless the metric has a unit of its own', async () => {
    const values = ['used_mb_by_host', 'average_value'] as const;
    const series = seriesOf(
      values.map((value) => aMetric('Custom/x', { value, as: value })),
      [],
    );
    const { outcome, failures } = await outcomeOf(aSelected({}, { series }), [
      apart([{ id: '1', live: 5, cells: [-3] }]),
    ]);

    expect(outcome.reading?.application).toEqual([undefined, -3]);
    expect(failures).toEqual(['sample negative']);
  });
});

describe('an amount of a metric that has another one in the same answer', () => {
  const values = ['s', 't'] as const;
  const series = seriesOf(
    values.map((value) => aMetric('Apdex', { value, as: value })),
    [],
  );

  it.each([[[5, 0]], [[0, 5]]])('is 0, and not nothing: %j', async (cells) => {
    const answer = apart([{ id: '1', live: 5, cells }]);
    const { outcome } = await outcomeOf(aSelected({}, { series }), [answer]);

    expect(outcome.reading?.application).toEqual(cells);
  });
});

describe('the hosts of an application', () => {
  const rows = [ofHost('c', 5), ofHost('b', 0, 0, 5), ofHost('new', 5)];
  const now = apart([], rows);

  it('are those of the answer, by name, with 0 for what each has had before', async () => {
    const before = apart([row(0, 5, 5)], [ofHost('b', 5, 0, 5), ofHost('c', 0, 5), ofHost('a', 5)]);
    const back = apart([], [ofHost('a', 0, 0, 5), ofHost('b', 0, 0, 5)]);
    const { outcome, hosts } = await outcomeOf(shop, [before, now]);

    expect(hosts).toEqual({ b: [0, undefined], c: [1, undefined], new: [1, undefined] });
    expect(Object.keys(hosts)).toEqual(['b', 'c', 'new']);
    expect(outcome).toMatchObject({ hostIds: ['b', 'c', 'new'], partCount: 4, failed: new Set() });
    // What has gone begins anew.
    const later = await outcomeOf(shop, [before, now, back]);
    expect(later.hosts).toEqual({ a: none, b: [0, undefined] });
  });

  it('have 0 for what each had before a poll that failed', async () => {
    const there = apart([], [ofHost('b', 0, 0, 5)]);
    const polls = [apart([], [ofHost('b', 5, 0, 5)]), apart([row(5)], broken), there];

    expect((await outcomeOf(shop, polls)).hosts).toEqual({ b: [0, undefined] });
  });

  const all = ['b', 'c', 'new'];
  it.each<[string, readonly string[] | undefined]>([
    ['changed', ['a']],
    ['not known', undefined],
    ['as before', all],
  ])('have their names for ids, if they are %s', async (_, known) => {
    const { outcome } = await outcomeOf(aSelected({ hostIds: known }), [now]);

    expect(outcome.hosts).toEqual(new Map(all.map((name) => [name, name])));
    expect(outcome.hostIds === known).toBe(known === all);
  });

  it('are chosen by their names, but all are known', async () => {
    const selected = aSelected({ hostIds: ['a'] }, { hosts: { kind: 'match', pattern: /^[bn]/u } });
    const { outcome, hosts } = await outcomeOf(selected, [now]);

    expect(Object.keys(hosts)).toEqual(['b', 'new']);
    expect(outcome).toMatchObject({ hostIds: all, partCount: 3 });
  });

  it.each([
    ['known ones', ['a', 'c'], ['a', 'c', 'Me']],
    ['unknown ones', undefined, undefined],
  ])('that are %s stay so if only the own one is asked for', async (_, known, is) => {
    const selected = aSelected({ hostIds: known }, { hosts: { kind: 'self', names: ['me'] } });
    const asked = apart([], [ofHost('Me', 5)]);
    const { outcome, hosts, requests } = await outcomeOf(selected, [asked]);

    expect(hosts).toEqual({ Me: [1, undefined] });
    expect(outcome.hostIds).toEqual(is);
    expect(requests[1]?.body).toContain("host IN ('me')");
  });
});

describe('a part that did not arrive', () => {
  const own = [row(5)];
  const some = [ofHost('a', 5)];
  const matching = aSelected({ hostIds: ['a', 'b'] }, { hosts: { kind: 'match', pattern: /b/u } });

  it.each<[string, SelectedApplication, (asked: AskedNrql) => Answer, readonly string[]]>([
    ['of known hosts', shop, apart(own, broken), ['a', 'b', 'c']],
    ['of no hosts', aSelected({ hostIds: [] }), apart(own, broken), ['hosts']],
    ['of unknown hosts', aSelected({ hostIds: undefined }), apart(own, broken), ['hosts']],
    ['of chosen hosts', matching, apart(own, broken), ['b']],
    ['of the application', shop, apart(broken, some), ['application']],
  ])('%s takes nothing from the other', async (_, selected, answer, failed) => {
    const { outcome, hosts } = await outcomeOf(selected, [answer]);
    const isOwn = !failed.includes('application');

    expect(outcome).toMatchObject({ failed: new Set(failed), error: broken, unauthorized: false });
    expect(outcome.reading?.application).toEqual(isOwn ? [1, undefined] : []);
    expect(hosts).toEqual(isOwn ? {} : { a: [1, undefined] });
    expect(outcome.hostIds).toEqual(isOwn ? selected.application.hostIds : ['a']);
  });

  it.each([
    ['the first failure', apart(broken, deadline), broken],
    ['a refused key, whatever failed before', apart(broken, refused), refused],
  ])('has failed for %s', async (_, answer, error) => {
    expect((await outcomeOf(shop, [answer])).outcome).toMatchObject({
      reading: undefined,
      error,
      failed: new Set(['application', 'a', 'b', 'c']),
      partCount: 4,
      unauthorized: error === refused,
    });
  });

  const names = ['web-0', 'web-1', 'web-2', 'web-3'];
  const named = (hostIds: readonly string[] | undefined, pattern = /^/u) =>
    aSelected({ hostIds }, { hosts: { kind: 'match', pattern }, application: false });
  it.each([
    ['the known ones by name', named(names), ['web-1'], ['web-0', 'web-2', 'web-3']],
    ['some, if none of that part were known', named(undefined), ['hosts'], ['web-2']],
    ['some, if none that are known were chosen', named(names, /2/u), ['hosts'], ['web-2']],
  ])('of hosts that are asked for in parts fails: %s', async (_, selected, failed, arrived) => {
    const tooLarge = new ApiError('too_large', 'cut off');
    const parts = ({ nrql, asksFor }: AskedNrql): Answer => {
      if (!nrql.includes('RLIKE')) return tooLarge;
      if (asksFor('web-1')) return broken;
      return names.filter(asksFor).map((name) => ofHost(name, 5));
    };
    const { outcome, hosts } = await outcomeOf(selected, [parts, parts]);

    expect(outcome).toMatchObject({ failed: new Set(failed), error: broken });
    expect(Object.keys(hosts)).toEqual(expect.arrayContaining(arrived));
  });
});

describe('values of several queries', () => {
  const series = throughputSeries
    .slice(0, 1)
    .flatMap((one) => [...Array(40).keys()].map((at) => ({ ...one, metric: `C/${at + 10}` })));
  const selected = aSelected({ hostIds: ['a'] }, { series });

  it.each([
    ['the application', 0, 'application'],
    ['the application, the second time', 1, 'application'],
    ['its hosts', 2, 'a'],
    ['its hosts, the second time', 3, 'a'],
  ])('have failed if one of the queries about %s has', async (_, fails, failed) => {
    let query = -1;
    const { outcome, hosts } = await outcomeOf(selected, [
      ({ subject }) => {
        query += 1;
        const cells = Array(40).fill(5);
        return query === fails
          ? broken
          : [{ id: '1', cells, ...(subject === 'hosts' && { host: 'a' }) }];
      },
    ]);

    expect(outcome).toMatchObject({ failed: new Set([failed]), error: broken });
    expect(outcome.reading?.application.length).toBe(fails < 2 ? 0 : 40);
    expect(Object.keys(hosts)).toHaveLength(fails < 2 ? 1 : 0);
  });
});
