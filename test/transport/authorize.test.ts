import { expect, it } from 'vitest';
import { authorize } from '../../src/transport/authorize.ts';
import { anAnswer, aRequest, createFakeKeyProvider, neverAborted } from './fakes.ts';

it.each([{ apiKeyHeader: 'Api-Key' }, { apiKeyHeader: 'X-Api-Key' }] as const)(
  'sends the key of the moment in $apiKeyHeader and changes nothing else',
  async ({ apiKeyHeader }) => {
    const sent: unknown[] = [];
    const keyProvider = createFakeKeyProvider('key-1');
    const request = aRequest();
    const send = authorize(
      { apiKeyHeader },
      {
        keyProvider,
        send: async (...args) => {
          sent.push(args);
          return anAnswer();
        },
      },
    );

    await send(request, neverAborted);
    keyProvider.rotate('key-2');
    await keyProvider.reload();
    await send(request, neverAborted);

    expect(sent).toEqual([
      [request, { [apiKeyHeader]: 'key-1' }, neverAborted],
      [request, { [apiKeyHeader]: 'key-2' }, neverAborted],
    ]);
  },
);
