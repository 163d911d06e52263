import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { hourMs } from '../../../src/model/time.ts';
import { listHosts } from '../../../src/newrelic/nerdgraph/discovery.ts';
import type { NrqlQuestion } from '../../../src/newrelic/nerdgraph/graphql-client.ts';
import type { NrqlAnswer } from '../../../src/newrelic/nerdgraph/nrql-answer.ts';

const neverAborted = new AbortController().signal;

/** Lists the hosts of the application 7, half a minute after four hours. */
function listing(answer: (question: NrqlQuestion) => NrqlAnswer, signal = neverAborted) {
  const client = { nrql: async (question: NrqlQuestion) => answer(question) };
  return listHosts('7', { client, wallMs: () => 4 * hourMs + 30_000 }, signal);
}

describe('listHosts', () => {
  it('asks once for what was there in the last hour: a name is an id', async () => {
    const asked: NrqlQuestion[] = [];
    const found = await listing((question) => {
      asked.push(question);
      const rows = ['a', 'b'].map((host) => ({
        applicationId: '7',
        host,
        calls: 1,
        isLive: false,
        cells: [],
      }));
      return { rows, window: question.window };
    });

    expect([...found.names]).toEqual([
      ['a', 'a'],
      ['b', 'b'],
    ]);
    expect(found).toMatchObject({ error: undefined, calls: 1 });
    expect(asked).toMatchObject([
      {
        operation: 'list_hosts',
        applicationIds: ['7'],
        facets: ['appId', 'host'],
        window: { fromMs: 3 * hourMs, toMs: 4 * hourMs },
      },
    ]);
    expect(asked[0]?.asksFor('any host')).toBe(true);
  });

  it('says why it failed', async () => {
    const error = new ApiError('server', 'no');
    const found = await listing(() => {
      throw error;
    });

    expect(found).toEqual({ names: new Map(), error, calls: 1 });
  });
});
