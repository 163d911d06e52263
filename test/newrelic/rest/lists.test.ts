import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import { answerOf, createFakeTransport } from '../../support/fake-transport.ts';
import { aRestSource, sampleText } from './a-rest-source.ts';

/**
 * The answer for a page with one application, and a link to the next page unless it is the last.
 */
function aPage(page: number, last: number): ApiResponse {
  const link = page < last ? `<https://host/list.json?page=${page + 1}>; rel="next"` : undefined;
  return answerOf(
    { applications: [{ id: page, name: `app ${page}` }] },
    { headers: link === undefined ? {} : { link } },
  );
}

describe('a list', () => {
  it('is read to its end if every page has another application', async () => {
    let page = 0;
    const { source, signal } = aRestSource(async () => {
      page += 1;
      return aPage(page, 6);
    });

    const list = await source.discover({ selectors: [] }, [], signal);

    expect(list.applications.map(({ id }) => id)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(list).toMatchObject({ error: undefined, calls: 6 });
  });

  it('that was complete before its caller aborted is kept', async () => {
    const controller = new AbortController();
    const { client } = aRestSource(async () => {
      controller.abort(new Error('shutting down'));
      return answerOf({ application_hosts: [{ id: 1, host: 'a' }] });
    });

    const { names } = await client.hostNames('12', controller);

    expect([...names]).toEqual([['1', 'a']]);
  });

  it('rejects with the reason of its caller if a call failed after the abort', async () => {
    const controller = new AbortController();
    const reason = new Error('shutting down');
    const { client } = aRestSource(async () => {
      controller.abort(reason);
      return answerOf('', { status: 500 });
    });

    await expect(client.hostNames('12', controller)).rejects.toBe(reason);
  });

  it('says which parts of it were left out', async () => {
    const { source, signal, logged } = aRestSource(async () =>
      answerOf({ applications: [{ id: 7 }] }),
    );

    const { unreadableIds } = await source.discover({ selectors: [] }, [], signal);

    expect(unreadableIds).toEqual(['7']);
    expect(logged).toEqual([{ problem: 'application 7: no name' }]);
  });
});

const target = '/v2/applications/12/hosts.json';

describe('the host names of an application', () => {
  it('are read from the sample', async () => {
    const text = sampleText('08-application-hosts-list-python-2014.json');
    const transport = createFakeTransport({ [target]: answerOf(text) });
    const { client, signal } = aRestSource(transport.send);

    const { names, error, calls } = await client.hostNames('12', { signal });

    expect([...names]).toEqual([['1234567', 'ip-10-1-19-12']]);
    expect({ error, calls }).toEqual({ error: undefined, calls: 1 });
    expect(transport.calls).toEqual([
      {
        operation: 'list_hosts',
        applicationId: '12',
        target,
        answerSize: 'medium',
        timeoutMs: 10_000,
        isOptional: true,
      },
    ]);
  });

  it('leave out a host without a readable id or name, and keep every digit', async () => {
    const body =
      '{"application_hosts":[null,{"id":1},{"id":2,"host":""},{"id":3,"host":7},{"host":"x"},' +
      '{"id":12345678901234567890,"host":"long"}]}';
    const { client, signal } = aRestSource(async () => answerOf(body));

    const { names } = await client.hostNames('12', { signal });

    expect([...names]).toEqual([['12345678901234567890', 'long']]);
  });

  it.each([
    { what: 'no list', answer: answerOf({}), reason: 'schema' },
    { what: 'no such application', answer: answerOf('{}', { status: 404 }), reason: 'not_found' },
    { what: 'an empty answer', answer: answerOf(''), reason: 'not_json' },
  ])('are empty, for a reason that names the application: $what', async ({ answer, reason }) => {
    const { client, signal } = aRestSource(async () => answer);

    await expect(client.hostNames('12', { signal })).resolves.toMatchObject({
      names: new Map(),
      calls: 1,
      error: {
        name: 'ApiError',
        reason,
        message: expect.stringMatching(/^list_hosts of application 12: /),
      },
    });
  });

  const twoPages = {
    [target]: answerOf(
      { application_hosts: [{ id: 1, host: 'a' }] },
      { headers: { link: '<?page=2>; rel="next"' } },
    ),
    [`${target}?page=2`]: answerOf('', { status: 503 }),
  };

  it('are those of the pages before a deadline', async () => {
    const controller = new AbortController();
    const deadline = new ApiError('timeout', 'the poll did not end within 120 s');
    const { send } = createFakeTransport(twoPages);
    const { client } = aRestSource(async (request, signal) => {
      if (!request.target.includes('page=2')) return send(request, signal);
      controller.abort(deadline);
      throw new ApiError('reset', 'the connection was reset');
    });

    const { names, error } = await client.hostNames('12', controller);

    expect([...names]).toEqual([['1', 'a']]);
    expect(error).toBe(deadline);
  });

  const filtered = (name: string): string => `${target}?filter[hostname]=${name}`;
  const hostsOf = (...hosts: readonly (readonly [number, string])[]) =>
    answerOf({ application_hosts: hosts.map(([id, host]) => ({ id, host })) });

  it('are looked up by the name of one host, which the vendor takes for part of a name', async () => {
    const transport = createFakeTransport({
      [filtered('web-1')]: hostsOf([1, 'web-1'], [11, 'web-11']),
    });
    const { client, signal } = aRestSource(transport.send);

    const { names, error, calls } = await client.hostNames('12', { signal }, ['web-1']);

    expect([...names]).toEqual([
      ['1', 'web-1'],
      ['11', 'web-11'],
    ]);
    expect({ error, calls }).toEqual({ error: undefined, calls: 1 });
  });

  it.each([
    { what: 'the first is found', found: 'pod-a', calls: 1 },
    { what: 'only the second is found', found: 'node-b', calls: 2 },
  ])('are looked up by one name after the other: $what', async ({ found, calls }) => {
    const transport = createFakeTransport({
      [filtered('pod-a')]: found === 'pod-a' ? hostsOf([1, 'POD-A']) : hostsOf([7, 'pod-a2']),
      [filtered('node-b')]: hostsOf([2, 'node-b']),
    });
    const { client, signal } = aRestSource(transport.send);

    const result = await client.hostNames('12', { signal }, ['pod-a', 'node-b']);

    expect(result).toMatchObject({ error: undefined, calls });
  });

  it('are all taken from the first list if the vendor ignores the name', async () => {
    const all = hostsOf([1, 'web-1'], [2, 'NODE-B']);
    const transport = createFakeTransport({
      [filtered('pod-a')]: [all, all],
    });
    const { client, signal } = aRestSource(transport.send);

    const found = await client.hostNames('12', { signal }, ['pod-a', 'node-b']);
    const absent = await client.hostNames('12', { signal }, ['pod-a', 'node-c']);

    expect([found.calls, absent.calls]).toEqual([1, 1]);
    expect(found.names.get('2')).toBe('NODE-B');
  });

  it.each([400, 422])(
    'are all listed, once, if the vendor refuses the name with %d',
    async (status) => {
      const transport = createFakeTransport({
        [filtered('pod-a')]: new ApiError('client', `HTTP ${status}`, { status }),
        [target]: hostsOf([1, 'web-1'], [2, 'node-b']),
      });
      const { client, signal } = aRestSource(transport.send);

      const result = await client.hostNames('12', { signal }, ['pod-a', 'node-b']);

      expect(result).toMatchObject({ error: undefined, calls: 2 });
      expect(result.names.get('2')).toBe('node-b');
    },
  );

  it.each(['x'.repeat(255), 'quo"te', 'li\nne', 'größe-検索', 'a+b c%20&d=e'])(
    'are looked up by any name: %j',
    async (name) => {
      const transport = createFakeTransport({ [filtered(name)]: hostsOf([2, name]) });
      const { client, signal } = aRestSource(transport.send);

      const { names } = await client.hostNames('12', { signal }, [name]);
      const [call] = transport.calls;

      expect(names.get('2')).toBe(name);
      expect(new URLSearchParams(call?.target.split('?')[1]).get('filter[hostname]')).toBe(name);
    },
  );

  it('are not looked up any further after a failure', async () => {
    const transport = createFakeTransport({
      [filtered('pod-a')]: new ApiError('server', 'HTTP 500', { status: 500 }),
    });
    const { client, signal } = aRestSource(transport.send);

    const result = await client.hostNames('12', { signal }, ['pod-a', 'node-b']);

    expect(result).toMatchObject({ error: { reason: 'server' }, calls: 1 });
  });

  it('keep the filter on every page, and escape characters of a URL', async () => {
    const link = '<https://elsewhere.example/?page=2>; rel="next"';
    const transport = createFakeTransport({
      [filtered('a&b')]: answerOf(
        { application_hosts: [{ id: 1, host: 'a&b2' }] },
        { headers: { link } },
      ),
      [`${filtered('a&b')}&page=2`]: hostsOf([2, 'a&b']),
    });
    const { client, signal } = aRestSource(transport.send);

    const { names } = await client.hostNames('12', { signal }, ['a&b']);

    expect(names.get('2')).toBe('a&b');
    expect(transport.calls[0]?.target).toBe(`${target}?filter%5Bhostname%5D=a%26b`);
  });
});
