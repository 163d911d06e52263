import { describe, expect, it } from 'vitest';
import type { ApiResponse } from '../../src/transport/transport.ts';
import { answerOf } from '../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

const query = { window: undefined, transactions: ['web'], raw: false } as const;

const answers: readonly { what: string; answer: ApiResponse; reason: string | undefined }[] = [
  { what: 'a page of HTML', answer: answerOf('<html>'), reason: 'not_json' },
  { what: 'nothing', answer: answerOf(''), reason: 'not_json' },
  { what: 'a list that is none', answer: answerOf({ applications: 1 }), reason: 'schema' },
  {
    what: 'an error with status 200',
    answer: answerOf({ error: { title: 'x' } }),
    reason: 'server',
  },
  {
    what: 'a status that the transport has counted',
    answer: answerOf('', { status: 500 }),
    reason: undefined,
  },
];

describe('an answer that nothing can be made of', () => {
  it.each(answers)('is counted once when it is $what', async ({ answer, reason }) => {
    const { source, client, signal, failures } = aRestSource(async () => answer);

    await source.discover([], [], signal);
    await source.hostNames('1', signal).catch(() => undefined);
    await client.applicationThroughput('1', query, { signal }).catch(() => undefined);
    await client.hostThroughput('1', '2', query, { signal }).catch(() => undefined);

    const operations = [
      'list_applications',
      'list_hosts',
      'application_throughput',
      'host_throughput',
    ];
    const expected = operations.map((operation) => `${operation} ${reason}`);
    expect(failures).toEqual(reason === undefined ? [] : expected);
  });

  it('is counted when an application on it cannot be told from others', async () => {
    const { source, signal, failures } = aRestSource(async () =>
      answerOf({ applications: [null, {}, { id: 1, name: 'a' }] }),
    );

    await source.discover([], [], signal);

    expect(failures).toEqual(['list_applications schema']);
  });

  it('is counted when it names a next page again and again', async () => {
    const { source, signal, failures } = aRestSource(async ({ target }) => {
      const page = Number(/page=(\d+)/u.exec(target)?.[1] ?? '1');
      const headers = { link: `<?page=${page + 1}>; rel="next"` };
      return answerOf({ applications: [{ id: 1, name: 'a' }] }, { headers });
    });

    const { complete, calls } = await source.discover([], [], signal);

    expect({ complete, calls }).toEqual({ complete: false, calls: 3 });
    expect(failures).toEqual(['list_applications schema']);
  });

  it('is not counted when only what can be told is unreadable', async () => {
    const { source, signal, failures } = aRestSource(async () =>
      answerOf({
        applications: [{ id: 1 }, { id: 2, name: 'a', links: { application_hosts: [{}] } }],
      }),
    );

    await source.discover([], [], signal);

    expect(failures).toEqual([]);
  });
});
