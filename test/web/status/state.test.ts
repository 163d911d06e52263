import { describe, expect, it } from 'vitest';
import type { Shard } from '../../../src/model/shard.ts';
import type {
  AccountDetails,
  AccountState,
  ApplicationState,
  ReloadStatus,
} from '../../../src/model/status.ts';
import { overallStateOf, works } from '../../../src/web/status/state.ts';
import { missingMetric } from '../../publish/account-status.ts';
import { aQuery } from '../../support/builders.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  inState,
} from '../../support/status-source.ts';

interface Given {
  readonly accounts?: readonly Partial<AccountDetails>[];
  readonly applications?: readonly ApplicationState[];
  readonly reload?: Partial<ReloadStatus>;
  readonly shard?: Shard;
}

const alone: Shard = { ordinal: 0, total: 1 };
const aRefusal = { calls: 17, sinceMs: 0, lastMs: 0 };
const ofQuery = { query: aQuery, reading: undefined, missing: undefined };
const aWorkingQuery = { ...anApplicationStatus(inState('up')), ...ofQuery };
const aFailingQuery = { ...anApplicationStatus(inState('failing')), ...ofQuery };
const anEmptyQuery = { ...aWorkingQuery, missing: 'it has no rows' };
const problemOfKey = { location: 'file key', problem: 'gone', sinceMs: 0, readMs: 0 };

const onlyQueries = { hasApplications: false, queries: [aWorkingQuery] };
const noConfiguration = { accounts: [], applications: [] };
const unselected: Partial<AccountDetails> = {
  state: 'degraded',
  missingSelectors: ['id=1', 'name=Shop'],
};

const cases: readonly (readonly [sentence: string, state: AccountState, given: Given])[] = [
  ['1 application, all polls succeed.', 'up', {}],
  ['1 query, all polls succeed.', 'up', { accounts: [onlyQueries], applications: [] }],
  [
    '1 application and 2 queries, all polls succeed.',
    'up',
    { accounts: [{ queries: [aWorkingQuery, aWorkingQuery] }] },
  ],
  [
    'The first query of 1 account has not ended yet.',
    'starting',
    { accounts: [{ ...onlyQueries, state: 'starting' }], applications: [] },
  ],
  [
    '2 applications in 2 accounts, all polls succeed. 1 application reports nothing.',
    'up',
    { accounts: [{}, {}], applications: ['up', 'silent', 'up'] },
  ],
  [
    '1 application, all polls succeed. 2 applications are gone.',
    'up',
    { applications: ['up', 'gone', 'gone'] },
  ],
  ['No application is selected.', 'down', { applications: [] }],
  [
    'No application is selected, 2 entries match nothing.',
    'down',
    { accounts: [unselected], applications: [] },
  ],
  [
    '1 query in 2 accounts, all polls succeed. No application is polled.',
    'up',
    { accounts: [{}, onlyQueries], applications: [] },
  ],
  ['1 account down.', 'degraded', { accounts: [{}, { state: 'down' }], applications: [] }],
  ['1 account down.', 'down', { accounts: [{ state: 'down' }] }],
  ['No application is polled.', 'up', { applications: [], shard: { ordinal: 1, total: 3 } }],
  [
    '2 applications failing.',
    'degraded',
    { accounts: [{ state: 'degraded' }], applications: ['failing', 'failing', 'up'] },
  ],
  [
    '1 account down, 1 application failing, values of 1 application dropped.',
    'degraded',
    {
      accounts: [{ state: 'down' }, { state: 'degraded' }],
      applications: ['failing', 'dropped'],
    },
  ],
  [
    '1 entry matches nothing.',
    'degraded',
    { accounts: [{ ...unselected, missingSelectors: ['id=1'] }] },
  ],
  [
    '2 API keys cannot be read.',
    'degraded',
    { accounts: [{ state: 'degraded', key: problemOfKey }, { key: problemOfKey }] },
  ],
  ['1 account degraded.', 'degraded', { accounts: [{ state: 'degraded' }] }],
  [
    'The last reload was refused.',
    'degraded',
    { reload: { problem: 'config.yaml:1:1: unknown key' } },
  ],
  [
    'There is no usable configuration, so nothing is polled.',
    'down',
    { ...noConfiguration, reload: { inForceSinceMs: undefined, problem: 'no such file' } },
  ],
  [
    'The configuration is being read.',
    'starting',
    { ...noConfiguration, reload: { inForceSinceMs: undefined } },
  ],
  [
    'The first discovery of 1 account has not ended yet.',
    'starting',
    { accounts: [{ state: 'starting' }], applications: [] },
  ],
  [
    '1 of 3 applications have been polled so far.',
    'starting',
    { applications: ['up', 'waiting', 'waiting'] },
  ],
];

describe('overallStateOf', () => {
  it.each(cases)(
    'says "%s"',
    (sentence, state, { accounts = [{}], applications = ['up'], reload = {}, shard = alone }) => {
      const overall = overallStateOf(
        accounts.map(anAccountDetails),
        applications.map((one) => anApplicationStatus(inState(one))),
        { ...aProcessStatus(), reload: { ...aProcessStatus().reload, ...reload }, shard },
      );

      expect(overall).toMatchObject({ state, sentence });
    },
  );
});

describe('a combination of faults', () => {
  const faults: readonly (readonly [says: string, fault: Given['accounts'] | ApplicationState])[] =
    [
      ['account', [{ state: 'down' }]],
      ['application failing', 'failing'],
      ['dropped', 'dropped'],
      ['nothing', [{ state: 'degraded', missingSelectors: ['id=1'] }]],
      ['cannot be read', [{ state: 'degraded', key: problemOfKey }]],
      ['query failing', [{ state: 'degraded', queries: [aFailingQuery] }]],
      ['New Relic refused|slowed down', [{ state: 'degraded', refusals: aRefusal }]],
      ['stretched 2.0 times|slowed down', [{ state: 'degraded', stretch: 2 }]],
      ['never ha', [{ state: 'degraded', missingMetrics: [missingMetric] }]],
      ['query never has a value', [{ state: 'degraded', queries: [anEmptyQuery] }]],
    ];

  it('is never better than its worst part, and names each', () => {
    for (let chosen = 1; chosen < 2 ** faults.length; chosen += 1) {
      const parts = faults.filter((_, bit) => (chosen & (1 << bit)) !== 0);
      const accounts = parts.flatMap(([, fault]) => (Array.isArray(fault) ? fault : []));
      const states = parts.flatMap(([, fault]) => (typeof fault === 'string' ? [fault] : []));
      const overall = overallStateOf(
        [{}, ...accounts].map(anAccountDetails),
        ['up' as const, ...states].map((one) => anApplicationStatus(inState(one))),
        aProcessStatus(),
      );

      expect(overall.state).toBe('degraded');
      // The last three are no failures, and neither is what only they are wrong with.
      expect(overall.works).toBe(parts.every((part) => faults.indexOf(part) > 5));
      expect(accounts.map(anAccountDetails).every(works)).toBe(
        parts.every((part) => typeof part[1] === 'string' || faults.indexOf(part) > 5),
      );
      for (const [says] of parts) expect(overall.sentence).toMatch(new RegExp(says, 'u'));
    }
  });
});
