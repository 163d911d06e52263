import type { Values } from '../../src/model/polled-series.ts';
import type { AppSnapshot } from '../../src/model/snapshot.ts';
import { anApplication, aReading, aSnapshot } from './builders.ts';

const windowEndMs = Date.UTC(2026, 8, 1, 9, 57);
const lastSuccessMs = Date.UTC(2026, 8, 1, 10, 0, 30);

/** An application with every fact, one that says little, and one with the nastiest names. */
export const representativeSnapshots: readonly AppSnapshot[] = [
  aSnapshot({
    application: anApplication({
      id: '31584797',
      name: 'Checkout (production)',
      language: 'java',
      healthStatus: 'green',
      reporting: true,
      lastReportedAtMs: Date.UTC(2026, 8, 1, 9, 59, 44),
      summary: {
        requestsPerMinute: 1840,
        responseTimeSeconds: 0.0513,
        errorRatio: 0.0002,
        apdexScore: 0.97,
        apdexTargetSeconds: 0.5,
      },
      hostIds: ['4321', '4322'],
      instances: 3,
    }),
    labels: { team: 'payments' },
    hostNames: new Map([['4321', 'web-1.example.com']]),
    reading: aReading({
      windowEndMs,
      application: [1840, 0],
      hosts: new Map([
        ['4321', [1230, 0]],
        ['4322', [609.5]],
      ]),
    }),
    pollSucceeded: true,
    lastSuccessMs,
  }),
  aSnapshot({
    application: anApplication({
      id: '31584798',
      name: 'Batch',
      healthStatus: 'violet',
      reporting: false,
      hostIds: [],
    }),
    pollSucceeded: false,
    failureReason: 'server',
  }),
  aSnapshot({
    account: 'staging',
    application: anApplication({
      id: '99007199254740993',
      name: 'quote " backslash \\ newline \n NUL \u0000 emoji 🧀 bidi \u202E lone \uD83D end',
      language: 'node"js',
      healthStatus: 'gray',
    }),
    labels: { owner_team: 'C:\\teams\n"shop"' },
    hostNames: new Map([['1', `${'long-'.repeat(60)}name`]]),
    reading: aReading({
      windowEndMs,
      hosts: new Map<string, Values>([
        ['1', [undefined, 1e21]],
        ['a\u0000', [0.000_000_1]],
        ['a\u0001', [2]],
      ]),
    }),
    pollSucceeded: true,
    lastSuccessMs,
  }),
];
