import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { FoundEntity } from '../../src/nerdgraph/entity-page.ts';
import type { NrqlQuestion } from '../../src/nerdgraph/graphql-client.ts';
import { type HostList, hostListCalls, listHosts } from '../../src/nerdgraph/host-list.ts';
import type { FacetRow, NrqlAnswer } from '../../src/nerdgraph/nrql-answer.ts';
import { createQuerySizes, fullSize, type QuerySizes } from '../../src/nerdgraph/query-sizes.ts';
import { predicateOf } from '../../src/simulator/nrql-conditions.ts';
import { parseNrql } from '../../src/simulator/nrql-parser.ts';
import { anApplication } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';
import { row } from './a-batch.ts';
import { hostsNamed } from './some-fleet.ts';

function anEntityWith(id: number, hostCount: number | undefined): FoundEntity {
  return { application: anApplication({ id: `${id}`, hostIds: undefined }), hostCount };
}

function entities(count: number, hostCount: number): readonly FoundEntity[] {
  return Array.from({ length: count }, (_, index) => anEntityWith(index + 1, hostCount));
}

/** Hosts by application. */
type Account = Readonly<Record<string, readonly string[]>>;

interface Options {
  /** Rows of an answer at most. */
  readonly limit?: number;
  /** Fails instead of an answer. */
  readonly failing?: (question: NrqlQuestion, call: number) => Error | undefined;
  readonly signal?: AbortSignal;
}

interface Listed extends HostList {
  readonly questions: readonly NrqlQuestion[];
  readonly sizes: QuerySizes;
}

/** The hosts that a query is about, as another reader of NRQL takes it. */
function rowsOf(account: Account, nrql: string): readonly FacetRow[] {
  const { where } = parseNrql(nrql);
  const isMeant = where === undefined ? () => true : predicateOf(where);
  return Object.entries(account).flatMap(([appId, hosts]) =>
    hosts
      .filter((host) =>
        isMeant({
          attribute: (name) =>
            ({ appId, host, metricTimesliceName: 'HttpDispatcher' })[name] ?? null,
        }),
      )
      .map((host) => row(appId, { live: 1 }, host)),
  );
}

async function list(
  found: readonly FoundEntity[],
  account: Account,
  options: Options = {},
): Promise<Listed> {
  const { limit = 5000, failing, signal = neverAborted } = options;
  const clock = createFakeClock();
  const sizes = createQuerySizes({ clock });
  const questions: NrqlQuestion[] = [];
  const client = {
    nrql: async (question: NrqlQuestion): Promise<NrqlAnswer> => {
      questions.push(question);
      const failure = failing?.(question, questions.length);
      if (failure !== undefined) throw failure;
      const rows = rowsOf(account, question.nrql);
      return {
        rows: rows.slice(0, limit),
        isTruncated: rows.length >= limit,
        window: question.window,
      };
    },
  };
  const listed = await listHosts(found, { client, sizes, wallMs: () => clock.wallMs(), signal });
  expect(listed.calls).toBe(questions.length);
  return { ...listed, questions, sizes };
}

const slow = new ApiError('too_large', 'slow', { status: 413 });

describe('listHosts', () => {
  it('asks for the last hour, of up to 200 applications at a time', async () => {
    const { questions } = await list(entities(201, 2), {});
    const toMs = Date.UTC(2026, 8, 1, 10, 0, 30);

    expect(questions).toMatchObject([
      {
        operation: 'list_hosts',
        applications: 200,
        mayShift: true,
        window: { fromMs: toMs - 3_600_000, toMs },
      },
      { operation: 'list_hosts', applications: 1 },
    ]);
  });

  it('lists each application, those without a host too, in the order of the names', async () => {
    const { hosts, error } = await list(entities(3, 2), { 1: ['b', 'a'], 3: ['c'], 9: ['x'] });

    expect(hosts).toEqual(
      new Map([
        ['1', ['a', 'b']],
        ['2', []],
        ['3', ['c']],
      ]),
    );
    expect(error).toBeUndefined();
  });

  it('asks nothing about nothing', async () => {
    expect(await list([], {})).toMatchObject({ calls: 0, error: undefined });
  });

  it('leaves out rows without a host', async () => {
    const client = {
      nrql: async ({ window }: NrqlQuestion): Promise<NrqlAnswer> => ({
        rows: [row('1', { live: 1 })],
        isTruncated: false,
        window,
      }),
    };
    const sizes = createQuerySizes({ clock: createFakeClock() });

    const { hosts } = await listHosts(entities(1, 1), {
      client,
      sizes,
      wallMs: () => 0,
      signal: neverAborted,
    });
    expect(hosts).toEqual(new Map([['1', []]]));
  });

  it.each([
    { what: '12,000 hosts', hosts: hostsNamed(12_000) },
    {
      what: '12,000 hosts of a domain',
      hosts: hostsNamed(12_000).map((name) => `${name}.example.com`),
    },
  ])('lists an application with $what in as many calls as planned', async ({ hosts }) => {
    const listed = await list([anEntityWith(1, 12_000)], { 1: hosts });

    expect(listed.hosts.get('1')).toEqual(hosts.toSorted());
    expect(listed.calls).toBe(hostListCalls([12_000], fullSize));
    expect(listed.sizes.current()).toEqual(fullSize);
  });

  it('divides what New Relic has not counted', async () => {
    const names = hostsNamed(700);
    const listed = await list(
      [anEntityWith(1, undefined), anEntityWith(2, undefined)],
      { 1: names, 2: ['a'] },
      { limit: 250 },
    );

    expect(listed.hosts).toEqual(
      new Map([
        ['1', names.toSorted()],
        ['2', ['a']],
      ]),
    );
    expect(listed.error).toBeUndefined();
  });

  it('divides a query that takes too long, twice at most', async () => {
    const few = await list(
      entities(120, 1),
      { 1: ['a'], 120: ['b'] },
      { failing: ({ applications }) => (applications > 30 ? slow : undefined) },
    );
    const none = await list(entities(200, 10), {}, { failing: () => slow });

    expect(few).toMatchObject({ calls: 7, error: undefined });
    expect(few.hosts.get('120')).toEqual(['b']);
    expect(none).toMatchObject({ calls: 7, error: slow });
    expect(none.hosts.size).toBe(0);
  });

  it('does not divide a small query that takes too long: New Relic is slow, not the query', async () => {
    const listed = await list(entities(25, 6), {}, { failing: () => slow });

    expect(listed).toMatchObject({ calls: 1, error: slow });
  });

  it('gives up on an application that stays truncated, with a bounded number of calls', async () => {
    const listed = await list(entities(2, 1), { 1: hostsNamed(1000, 'x'), 2: ['a'] }, { limit: 1 });

    expect(listed.calls).toBeLessThan(200);
    expect(listed.error).toMatchObject({
      reason: 'too_large',
      message: expect.stringContaining(
        'list_hosts of 1 application: more hosts than New Relic returns, however it is divided.',
      ),
    });
    expect(listed.hosts.has('1')).toBe(false);
  });

  it('keeps the others if one query fails', async () => {
    const broken = new ApiError('server', 'it broke', { status: 500 });
    const listed = await list(
      entities(401, 1),
      { 1: ['a'], 201: ['b'], 401: ['c'] },
      {
        failing: (_, call) => (call === 2 ? broken : undefined),
      },
    );

    expect(listed).toMatchObject({ calls: 3, error: broken });
    expect([listed.hosts.get('1'), listed.hosts.has('201'), listed.hosts.get('401')]).toEqual([
      ['a'],
      false,
      ['c'],
    ]);
  });

  it('has nothing of an application of which a part fails', async () => {
    const broken = new ApiError('server', 'it broke', { status: 500 });
    const listed = await list(
      [anEntityWith(1, 12_000)],
      { 1: hostsNamed(12_000) },
      {
        failing: (_, call) => (call === 3 ? broken : undefined),
      },
    );

    expect(listed.hosts.size).toBe(0);
    expect(listed.error).toBe(broken);
  });

  it('ends when the key is refused', async () => {
    const refused = new ApiError('auth', 'refused', { status: 401 });
    const listed = await list(entities(401, 1), {}, { failing: () => refused });

    expect(listed).toMatchObject({ calls: 1, error: refused });
    expect(listed.hosts.size).toBe(0);
  });

  it('keeps what it has read when time is over', async () => {
    const controller = new AbortController();
    const deadline = new ApiError('timeout', 'time is over');
    const listed = await list(
      entities(401, 1),
      { 1: ['a'] },
      {
        signal: controller.signal,
        failing: (_, call) => {
          if (call === 1) return undefined;
          controller.abort(deadline);
          return deadline;
        },
      },
    );

    expect(listed).toMatchObject({ calls: 2, error: deadline });
    expect([...listed.hosts.keys()]).toHaveLength(200);
  });

  it('rejects with any other reason of an abort', async () => {
    const stopped = new Error('stopped');

    await expect(list(entities(1, 1), {}, { failing: () => stopped })).rejects.toBe(stopped);
  });
});

describe('hostListCalls', () => {
  it.each([
    { counts: [], calls: 0 },
    { counts: [0], calls: 1 },
    { counts: [2500], calls: 1 },
    { counts: [2500, 1], calls: 2 },
    { counts: [1250, 1250, 1250], calls: 2 },
    { counts: [2501], calls: 2 },
    { counts: [1, 12_000, 1], calls: 9 },
    { counts: [1_000_000], calls: 64 },
  ])('is $calls for $counts hosts', ({ counts, calls }) => {
    expect(hostListCalls(counts, { applications: 200, rows: 2500 })).toBe(calls);
  });
});
