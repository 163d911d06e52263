import { describe, expect, it } from 'vitest';
import { createListReader, type ListReader } from '../../src/newrelic/lists.ts';
import type { ApiResponse, Transport } from '../../src/transport/transport.ts';
import { createFakeLogger, type FakeLogger } from '../support/fake-logger.ts';
import { answerOf } from '../support/fake-transport.ts';

function aReader(send: Transport): { readonly reader: ListReader; readonly logger: FakeLogger } {
  const logger = createFakeLogger();
  const observer = { invalidSample: () => {}, failed: () => {} };
  return { logger, reader: createListReader({ maxPages: 10 }, { send, observer, logger }) };
}

/** The answer with the one application of this page, which is not the last one. */
function aPage(page: number, last: number): ApiResponse {
  const link = page < last ? `<https://host/list.json?page=${page + 1}>; rel="next"` : undefined;
  return answerOf(
    { applications: [{ id: page, name: `app ${page}` }] },
    { headers: link === undefined ? {} : { link } },
  );
}

describe('createListReader', () => {
  it('reads a list whose every page brings another application to its end', async () => {
    let page = 0;
    const { reader } = aReader(async () => {
      page += 1;
      return aPage(page, 6);
    });

    const list = await reader.applications(undefined, { signal: new AbortController().signal });

    expect(list.items.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(list).toMatchObject({ error: undefined, calls: 6 });
  });

  it('gives a list that was complete before its caller went', async () => {
    const controller = new AbortController();
    const { reader } = aReader(async () => {
      controller.abort(new Error('shutting down'));
      return aPage(1, 1);
    });

    const list = await reader.applications(undefined, controller);

    expect(list.items).toHaveLength(1);
  });

  it('rejects with the reason of its caller when a call failed after that had gone', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const { reader } = aReader(async () => {
      controller.abort(reason);
      return answerOf('', { status: 500 });
    });

    await expect(reader.applications(undefined, controller)).rejects.toBe(reason);
  });

  it('says what of the list it left out', async () => {
    const { reader, logger } = aReader(async () => answerOf({ applications: [{ id: 7 }] }));

    const list = await reader.applications(undefined, { signal: new AbortController().signal });

    expect(list.unreadableIds).toEqual(['7']);
    expect(logger.lines).toEqual([
      {
        level: 'debug',
        message: 'a part of the list of applications was left out',
        fields: { problem: 'application 7: no name' },
      },
    ]);
  });
});
