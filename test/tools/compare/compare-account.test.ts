import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { AppEntry } from '../../../src/model/config.ts';
import type { ApplicationQuestion, Question, Source } from '../../../src/model/source.ts';
import {
  type AccountComparison,
  type ComparedAccount,
  compareAccount,
} from '../../../src/tools/compare/compare-account.ts';
import { aContext } from '../../support/a-context.ts';
import { anApplication, anEntry } from '../../support/builders.ts';
import { inBatches } from '../../support/fake-batch-source.ts';
import { createFakeClock, type FakeClock } from '../../support/fake-clock.ts';
import { createFakeSource, type FakeSource, webOf } from '../../support/fake-source.ts';

interface Bench {
  readonly clock: FakeClock;
  readonly rest: FakeSource;
  readonly nerdgraph: FakeSource;
  readonly compare: (entries?: readonly AppEntry[]) => Promise<AccountComparison>;
  /** Makes the answers of NerdGraph, not its list, say which hosts there are. */
  readonly hostsOfNerdgraph: (hostsOf: (window: string) => readonly string[]) => void;
  /** Fails if the account was not compared. */
  readonly compared: (entries?: readonly AppEntry[]) => Promise<ComparedAccount>;
}

function aBench(): Bench {
  const clock = createFakeClock();
  const rest = createFakeSource(clock);
  const nerdgraph = createFakeSource(clock);
  const batches = inBatches(nerdgraph);
  let inAnswer = ({ selected }: ApplicationQuestion): readonly string[] | undefined =>
    selected.application.hostIds;
  const answering = (question: Question): Question => {
    if (question.kind === 'query') return question;
    const { application, entry } = question.selected;
    const hostIds = inAnswer(question);
    return { ...question, selected: { application: { ...application, hostIds }, entry } };
  };
  const source: Source = {
    ...batches,
    poll: (asked, ...how) => batches.poll(() => asked().map(answering), ...how),
  };
  const { vendorClock } = aContext({ clock });
  const compare: Bench['compare'] = async (entries = [anEntry({ transactions: ['web'] })]) => {
    const comparing = compareAccount(
      {
        account: 'main',
        entries,
        concurrency: 2,
        rest: { source: rest, vendorClock, calls: rest.sent },
        nerdgraph: { source, vendorClock, calls: batches.sent },
      },
      { clock, wallMs: () => clock.wallMs(), signal: new AbortController().signal },
    );
    await clock.advance(0);
    return comparing;
  };
  return {
    clock,
    rest,
    nerdgraph,
    hostsOfNerdgraph: (hostsOf) => {
      inAnswer = ({ selected: { entry } }) => {
        const { window, delayMs } = entry.poll;
        const lengthMs = window.kind === 'range' ? window.lengthMs : 0;
        return hostsOf(`${lengthMs / 60_000} minutes, ${delayMs / 60_000} ago`);
      };
    },
    compare,
    compared: async (entries) => {
      const result = await compare(entries);
      if (result.kind === 'compared') return result;
      throw new Error(result.reason);
    },
  };
}

/** Two hosts and the application itself; NerdGraph knows the hosts by their names. */
function anAgreeingBench(): Bench {
  const bench = aBench();
  bench.rest.list(anApplication({ hostIds: ['11', '12'] }));
  bench.rest.names('1', new Map(Object.entries({ '11': 'web-1', '12': 'web-2' })));
  bench.nerdgraph.list(anApplication({ hostIds: ['web-1', 'web-2'] }));
  bench.nerdgraph.names('1', new Map(Object.entries({ 'web-1': 'web-1', 'web-2': 'web-2' })));
  const rates = { '1': 30, '1/11': 10, '1/12': 20, '1/web-1': 10, '1/web-2': 20 };
  for (const [subject, perMinute] of Object.entries(rates)) {
    bench.rest.answer(subject, webOf(perMinute));
    bench.nerdgraph.answer(subject, webOf(perMinute));
  }
  return bench;
}

const hour = '60 minutes, 0 ago';

function verdictsOf({ values }: ComparedAccount): readonly string[] {
  return values.map(({ host, verdict }) => `${host ?? 'application'} ${verdict}`);
}

describe('compareAccount', () => {
  it.each([
    { what: 'as configured', window: { kind: 'range', lengthMs: 300_000 } as const, minutes: 5 },
    { what: 'the default', window: { kind: 'vendor_default' } as const, minutes: 30 },
  ])('asks both for one settled window: $what', async ({ window, minutes }) => {
    const { rest, nerdgraph, compared } = anAgreeingBench();

    await compared([anEntry({ transactions: ['web'], poll: { window } })]);

    const toMs = Date.UTC(2026, 8, 1, 9, 50);
    const asked = [...rest.queries, ...nerdgraph.queries].map((query) => query.window);
    expect(asked.length).toBe(6);
    expect(new Set(asked.map((one) => JSON.stringify(one)))).toEqual(
      new Set([JSON.stringify({ fromMs: toMs - minutes * 60_000, toMs })]),
    );
  });

  it('keeps a delay that is longer', async () => {
    const { rest, compared } = anAgreeingBench();

    await compared([anEntry({ transactions: ['web'], poll: { delayMs: 1_200_000 } })]);

    expect(rest.queries[0]?.window?.toMs).toBe(Date.UTC(2026, 8, 1, 9, 40));
  });

  it.each([
    {
      what: 'those of the window suffice',
      inWindow: 3,
      lastHour: 6,
      rest: 6,
      polls: 1,
      short: false,
    },
    {
      what: 'the others ended within the hour',
      inWindow: 1,
      lastHour: 6,
      rest: 6,
      polls: 2,
      short: false,
    },
    { what: 'some', inWindow: 1, lastHour: 2, rest: 6, polls: 2, short: true },
    { what: 'all', inWindow: 0, lastHour: 0, rest: 6, polls: 2, short: true },
    {
      what: 'all, of one that is silent',
      inWindow: 0,
      lastHour: 0,
      rest: 6,
      reporting: false,
      polls: 1,
      short: false,
    },
  ])(
    'finds hosts that NerdGraph does not name: $what',
    async ({ inWindow, lastHour, rest: listed, reporting = true, polls, short }) => {
      const { rest, nerdgraph, hostsOfNerdgraph, compared } = aBench();
      const hosts = Array.from({ length: listed }, (_, index) => `h${index}`);
      rest.list(anApplication({ hostIds: hosts, reporting }));
      nerdgraph.list(anApplication({ hostIds: undefined }));
      hostsOfNerdgraph((window) => hosts.slice(0, window === hour ? lastHour : inWindow));
      for (const source of [rest, nerdgraph]) {
        source.names('1', new Map());
        for (const subject of ['1', ...hosts.map((host) => `1/${host}`)])
          source.answer(subject, webOf(0));
      }

      const result = await compared();

      const counts = { rest: listed, nerdgraph: polls === 2 ? lastHour : inWindow };
      expect(result).toMatchObject({ hosts: counts, calls: { nerdgraph: 1 + polls } });
      expect(result.shortOfHosts).toEqual(short ? [{ id: '1', name: 'shop', ...counts }] : []);
    },
  );

  it('asks no second time for hosts if NerdGraph failed', async () => {
    const { nerdgraph, compared } = anAgreeingBench();
    nerdgraph.list(anApplication({ hostIds: [] }));
    nerdgraph.answer('1', new ApiError('server', 'status 500', { status: 500 }));

    expect(await compared()).toMatchObject({ shortOfHosts: [], calls: { nerdgraph: 2 } });
  });

  it('compares applications that both lists have, and names the others', async () => {
    const { rest, nerdgraph, compared } = aBench();
    rest.list(
      anApplication({ id: '1', name: 'a' }),
      anApplication({ id: '2', name: 'b', reporting: false }),
      anApplication({ id: '3', name: 'c' }),
    );
    nerdgraph.list(
      anApplication({ id: '1', name: 'A' }),
      anApplication({ id: '4', name: 'd', reporting: undefined }),
    );
    nerdgraph.pending('3');
    for (const source of [rest, nerdgraph]) source.answer('1', webOf(1));

    const result = await compared([anEntry({ transactions: ['web'], hosts: false })]);

    expect(result).toMatchObject({
      applications: { rest: 3, nerdgraph: 2 },
      renamed: [{ id: '1', rest: 'a', nerdgraph: 'A' }],
      oneSided: [
        { id: '2', name: 'b', reporting: false, onlyIn: 'rest' },
        { id: '3', name: 'c', reporting: true, onlyIn: 'unclear' },
        { id: '4', name: 'd', reporting: undefined, onlyIn: 'nerdgraph' },
      ],
    });
    expect(verdictsOf(result)).toEqual(['application equal']);
  });

  it('does not ask about an application that neither calls reporting', async () => {
    const { rest, nerdgraph, compared } = aBench();
    rest.list(anApplication({ id: '1', reporting: false }));
    nerdgraph.list(anApplication({ id: '1', reporting: false }));

    expect((await compared()).values).toEqual([]);
    expect([...rest.calls, ...nerdgraph.calls]).toEqual(['list', 'list']);
  });

  it('asks about one that only one of them calls reporting', async () => {
    const { rest, nerdgraph, compared } = aBench();
    rest.list(anApplication({ id: '1', reporting: false }));
    nerdgraph.list(anApplication({ id: '1' }));
    rest.answer('1', []);
    nerdgraph.answer('1', webOf(3));

    const result = await compared([anEntry({ transactions: ['web'], hosts: false })]);

    expect(verdictsOf(result)).toEqual(['application only NerdGraph']);
  });

  it('says what was not read', async () => {
    const { rest, compared } = anAgreeingBench();
    rest.answer('1/11', new ApiError('server', 'status 500', { status: 500 }));

    const result = await compared();

    expect(verdictsOf(result)).toEqual(['application equal', 'web-1 not read', 'web-2 equal']);
    expect(result.values[1]?.reason).toBe('REST: status 500');
  });

  it.each([
    { api: 'rest', name: 'REST' },
    { api: 'nerdgraph', name: 'NerdGraph' },
  ] as const)('does not judge from half a list of $name', async ({ api, name }) => {
    const bench = anAgreeingBench();
    bench[api].failDiscovery(new ApiError('auth', 'status 401', { status: 401 }), [
      anApplication(),
    ]);

    expect(await bench.compare()).toEqual({
      kind: 'not compared',
      account: 'main',
      reason: `the discovery with ${name} failed: status 401`,
    });
  });

  it.each([
    { what: 'NerdGraph has no application', rest: { id: '1' }, kind: 'not compared' },
    { what: 'only silent ones are left', rest: { id: '1', reporting: false }, kind: 'compared' },
  ])('suspects another account: $what', async ({ rest: application, kind }) => {
    const { rest, compare } = aBench();
    rest.list(anApplication(application));

    expect((await compare()).kind).toBe(kind);
  });
});
