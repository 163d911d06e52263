import { describe, expect, it } from 'vitest';
import { minuteMs } from '../../src/model/time.ts';
import { answered, linesOf, queryConfig } from '../support/query-daemon.ts';
import { aRunningDaemon, type RunningDaemonOptions } from '../support/running-daemon.ts';

/** What a poll finds of each application and host; `fails` for no answer, nor a whole list of applications. */
type Found = 'calls' | 'no calls' | 'nothing' | 'fails';

const noList = { data: { actor: { entitySearch: { count: 2, results: { entities: [] } } } } };

interface Answer {
  results: Record<string, unknown>[];
  totalResult: Record<string, unknown>;
}

/** The answer with what a window without calls has: rows with the heartbeat alone, or none. */
function withoutCalls({ results }: Answer, found: 'no calls' | 'nothing'): Answer {
  const rows = results.map((row) => ({
    ...row,
    calls: 5,
    live: found === 'nothing' ? 0 : 5,
    c1: null,
  }));
  return { results: rows, totalResult: { calls: 5 * rows.length } };
}

/** A wire on which answers to queries for values say what was `found`; a test may change it. */
function finding(world: { found: Found }): RunningDaemonOptions {
  return {
    wire: (wire) => ({
      ...wire,
      send: async (...request) => {
        const { found } = world;
        const answer = await wire.send(...request);
        if (found === 'fails' && request[0].operation === 'list_applications') {
          return answered(noList);
        }
        if (!/^(application|host)_metrics$/u.test(request[0].operation) || found === 'calls') {
          return answer;
        }
        if (found === 'fails') return answered({ data: { actor: { account: { nrql: null } } } });
        const body = JSON.parse(answer.body) as { data: { actor: { account: { nrql: Answer } } } };
        const { account } = body.data.actor;
        account.nrql = { ...account.nrql, ...withoutCalls(account.nrql, found) };
        return answered(body);
      },
    }),
  };
}

describe('an amount of which New Relic has nothing, by NerdGraph', () => {
  it.each([
    ['applications', /^newrelic_application_requests_per_minute\{/u],
    ['hosts', /^newrelic_application_host_requests_per_minute\{/u],
  ])('is 0 for %s that are there and have had it before, and else no value', async (_, series) => {
    const world = { found: 'no calls' as Found };
    const bench = await aRunningDaemon(await queryConfig({}), finding(world));
    const valuesAfter = async (found: Found): Promise<readonly (string | undefined)[]> => {
      world.found = found;
      await bench.platform.clock.advance(minuteMs);
      const lines = await linesOf(bench, series);
      return [...new Set(lines.map((line) => (line.endsWith(' 0') ? '0' : 'more')))];
    };

    expect(await valuesAfter('no calls')).toEqual([]);
    expect(await valuesAfter('calls')).toEqual(['more']);
    expect(await valuesAfter('no calls')).toEqual(['0']);
    expect(await valuesAfter('nothing')).toEqual([]);
    expect(await valuesAfter('no calls')).toEqual(['0']);
    expect(await valuesAfter('calls')).toEqual(['more']);
    expect(await valuesAfter('fails')).toEqual(['more']);
    expect(await valuesAfter('no calls')).toEqual(['0']);
    expect(await linesOf(bench, /^newrelic_application_poll_success\{.* 1$/u)).toHaveLength(2);
  });
});

describe('a value of a metric of its own that is below zero, by NerdGraph', () => {
  it('is shown, but for one that counts', async () => {
    const metrics = ['average_value', 'call_count'].map(
      (value, index) => `{ metric: Custom/Degrees, value: ${value}, as: degrees_${index} }`,
    );
    const poll = `poll: { metrics: [${metrics.join(', ')}] }`;
    const bench = await aRunningDaemon(await queryConfig({ poll }), {
      wire: (wire) => ({
        ...wire,
        send: async (...request) => {
          const answer = await wire.send(...request);
          return {
            ...answer,
            body: answer.body.replaceAll(/"(c[12])":(?:null|[\d.]+)/gu, '"$1":-5'),
          };
        },
      }),
    });
    await bench.platform.clock.advance(minuteMs);

    const shown = await linesOf(bench, /^(?:host_)?degrees/u);
    expect(shown).toHaveLength(2 + 4);
    for (const line of shown) expect(line).toMatch(/degrees_0\{.*\} -5$/u);
  });
});
