import { describe, expect, it } from 'vitest';
import type { NrqlQuestion } from '../../src/nerdgraph/graphql-client.ts';
import { listHosts } from '../../src/nerdgraph/host-list.ts';
import { createQuerySizes } from '../../src/nerdgraph/query-sizes.ts';
import { anApplication } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { neverAborted } from '../transport/fakes.ts';

describe('the window of the list of hosts', () => {
  it('is the last hour, in whole milliseconds: NRQL knows no others', async () => {
    const asked: NrqlQuestion[] = [];
    const entity = { application: anApplication({ id: '1' }), hostCount: 2 };

    await listHosts([entity], {
      client: {
        nrql: async (question) => {
          asked.push(question);
          return { rows: [], isTruncated: false, window: question.window };
        },
      },
      sizes: createQuerySizes({ clock: createFakeClock() }),
      wallMs: () => 1_760_003_600_000.75,
      signal: neverAborted,
    });

    expect(asked.map(({ window }) => window)).toEqual([
      { fromMs: 1_760_000_000_000, toMs: 1_760_003_600_000 },
    ]);
    expect(asked[0]?.nrql).toMatch(/ SINCE 1760000000000 UNTIL 1760003600000$/);
  });
});
