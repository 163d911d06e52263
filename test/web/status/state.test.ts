import { describe, expect, it } from 'vitest';
import type { Shard } from '../../../src/model/shard.ts';
import type {
  AccountDetails,
  AccountState,
  ApplicationState,
  ReloadStatus,
} from '../../../src/model/status.ts';
import { overallStateOf } from '../../../src/web/status/state.ts';
import { missingMetric } from '../../publish/account-status.ts';
import { aQuery } from '../../support/builders.ts';
import { slow } from '../../support/slow.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aProcessStatus,
  failingOf,
  inState,
} from '../../support/status-source.ts';

interface Given {
  readonly accounts?: readonly Partial<AccountDetails>[];
  readonly applications?: readonly ApplicationState[];
  readonly reload?: Partial<ReloadStatus>;
  readonly shard?: Shard;
}

const alone: Shard = { ordinal: 0, total: 1 };
const aRefusal = { calls: 17, sinceMs: 0, lastMs: 0, cause: 'key_limit' as const };
const ofQuery = { query: aQuery, reading: undefined, missing: undefined };
const aWorkingQuery = { ...anApplicationStatus(inState('up')), ...ofQuery };
const aFailingQuery = { ...anApplicationStatus(inState('failing')), ...ofQuery };
const failing = anApplicationStatus(inState('failing'));
const anEmptyQuery = { ...aWorkingQuery, missing: 'it has no rows' };
const problemOfKey = { location: 'file key', problem: 'gone', sinceMs: 0, readMs: 0 };

const onlyQueries = { hasApplications: false, queries: [aWorkingQuery] };
const idle = { applications: 0 };
const noConfiguration = { accounts: [], applications: [] };
const unselected: Partial<AccountDetails> = {
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
  ['1 configuration selects nothing.', 'down', { accounts: [idle], applications: [] }],
  [
    '1 configuration selects nothing, 2 entries match nothing.',
    'down',
    { accounts: [{ ...idle, ...unselected }], applications: [] },
  ],
  [
    '1 query in 2 accounts, all polls succeed. No application is polled.',
    'up',
    { accounts: [{}, onlyQueries], applications: [] },
  ],
  [
    '1 list of applications failing.',
    'degraded',
    { accounts: [{}, { up: false }], applications: [] },
  ],
  ['2 lists of applications failing.', 'down', { accounts: [{ up: false }, { up: false }] }],
  ['1 API key refused.', 'down', { accounts: [{ up: false, errorReason: 'auth' }] }],
  ['1 account unreachable.', 'down', { accounts: [{ up: false, errorReason: 'dns' }] }],
  ['1 account without answers.', 'down', { accounts: [{ up: false, hasApplications: false }] }],
  [
    'No application is polled.',
    'up',
    { accounts: [idle], applications: [], shard: { ordinal: 1, total: 3 } },
  ],
  ['2 applications failing.', 'degraded', { applications: ['failing', 'failing', 'up'] }],
  [
    '1 list of applications failing, 2 applications failing, 1 application without its values.',
    'degraded',
    {
      accounts: [{ up: false }, {}],
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
    { accounts: [{ key: problemOfKey }, { key: problemOfKey }] },
  ],
  ['1 refused configuration.', 'degraded', { reload: { problem: 'config.yaml:1:1: unknown key' } }],
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
      const statuses = applications.map((one) => anApplicationStatus(inState(one)));
      const overall = overallStateOf(
        accounts.map((one, index) =>
          anAccountDetails(index === 0 ? { failing: failingOf(statuses), ...one } : one),
        ),
        statuses,
        { ...aProcessStatus(), reload: { ...aProcessStatus().reload, ...reload }, shard },
      );

      expect(overall).toMatchObject({ state, sentence });
    },
  );
});

describe('a combination of faults', () => {
  const faults: readonly (readonly [
    says: string,
    fault: Partial<AccountDetails>,
    isRed: boolean,
  ])[] = [
    ['list', { up: false }, true],
    ['applications? failing', { failing: [failing] }, true],
    ['applications? without', { failing: [anApplicationStatus(inState('dropped'))] }, true],
    ['nothing', { missingSelectors: ['id=1'] }, true],
    ['cannot be read', { key: problemOfKey }, true],
    ['query failing', { queries: [aFailingQuery] }, true],
    ['throttled', { refusals: aRefusal }, false],
    ['budget', { stretch: 2, demandRequestsPerMinute: 1600 }, false],
    ['too slowly', { stretch: 2 }, false],
    ['metric never has', { missingMetrics: [missingMetric] }, false],
    ['query never has a value', { queries: [anEmptyQuery] }, false],
    ['clock', { clockSkew: { ms: 60_000, isBelieved: true } }, false],
    ['series', { leftOut: { duplicate: 1, max_series: 0, fault: 0 } }, false],
  ];

  it('is never better than its worst part, and names each', slow, () => {
    for (let chosen = 1; chosen < 2 ** faults.length; chosen += 1) {
      const parts = faults.filter((_, bit) => (chosen & (1 << bit)) !== 0);
      const accounts = [{}, ...parts.map(([, fault]) => fault)].map(anAccountDetails);
      const overall = overallStateOf(accounts, [anApplicationStatus()], aProcessStatus());

      expect(overall.state).toBe('degraded');
      expect(overall.tone).toBe(parts.some(([, , isRed]) => isRed) ? 'bad' : 'wait');
      for (const [says] of parts) expect(overall.sentence).toMatch(new RegExp(says, 'u'));
    }
  });
});
