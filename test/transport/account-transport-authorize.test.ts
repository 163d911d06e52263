import { expect, it } from 'vitest';
import { authorize } from '../../src/transport/account-transport.ts';
import { anAnswer, aPermittedRequest, createFakeMembership, neverAborted } from './fakes.ts';

it.each([{ apiKeyHeader: 'Api-Key' }, { apiKeyHeader: 'X-Api-Key' }] as const)(
  'sends the key of the permit in $apiKeyHeader and changes nothing else',
  async ({ apiKeyHeader }) => {
    const sent: unknown[] = [];
    const requests = ['key-1', 'key-1', 'key-2', 'key-1'].map((key) =>
      aPermittedRequest(createFakeMembership({ apiKey: () => key })),
    );
    const send = authorize(
      { apiKeyHeader },
      {
        send: async (...args) => {
          sent.push(args);
          return anAnswer();
        },
      },
    );

    for (const request of requests) await send(request, neverAborted);

    expect(sent).toEqual(
      requests.map((request) => [request, { [apiKeyHeader]: request.permit.apiKey }, neverAborted]),
    );
  },
);
