import { describe, expect, it } from 'vitest';
import { answerOf, createFakeTransport } from '../support/fake-transport.ts';
import { aRestSource, sampleText } from './a-rest-source.ts';

const target = '/v2/applications/12/hosts.json';

describe('the host names of an application', () => {
  it('are read from the sample', async () => {
    const text = sampleText('08-application-hosts-list-python-2014.json');
    const transport = createFakeTransport({ [target]: answerOf(text) });
    const { source, signal } = aRestSource(transport.send);

    const names = await source.hostNames('12', signal);

    expect([...names]).toEqual([['1234567', 'ip-10-1-19-12']]);
    expect(transport.calls).toEqual([{ operation: 'list_hosts', target }]);
  });

  it('are read from all pages', async () => {
    const link = '<https://elsewhere.example/v2/applications/12/hosts.json?page=2>; rel="next"';
    const transport = createFakeTransport({
      [target]: answerOf({ application_hosts: [{ id: 1, host: 'a' }] }, { headers: { link } }),
      [`${target}?page=2`]: answerOf({ application_hosts: [{ id: 2, host: 'b' }] }),
    });
    const { source, signal } = aRestSource(transport.send);

    const names = await source.hostNames('12', signal);

    expect(names).toEqual(
      new Map([
        ['1', 'a'],
        ['2', 'b'],
      ]),
    );
  });

  it('leave out a host without a readable id or name, and keep every digit', async () => {
    const body =
      '{"application_hosts":[null,{"id":1},{"id":2,"host":""},{"id":3,"host":7},{"host":"x"},' +
      '{"id":12345678901234567890,"host":"long"}]}';
    const { source, signal } = aRestSource(async () => answerOf(body));

    const names = await source.hostNames('12', signal);

    expect([...names]).toEqual([['12345678901234567890', 'long']]);
  });

  it.each([
    { what: 'no list', answer: answerOf({}), reason: 'schema' },
    { what: 'no such application', answer: answerOf('{}', { status: 404 }), reason: 'not_found' },
    { what: 'an empty answer', answer: answerOf(''), reason: 'not_json' },
  ])('reject with an ApiError that names the application: $what', async ({ answer, reason }) => {
    const { source, signal } = aRestSource(async () => answer);

    await expect(source.hostNames('12', signal)).rejects.toMatchObject({
      name: 'ApiError',
      reason,
      message: expect.stringMatching(/^list_hosts of application 12: /),
    });
  });

  it('reject when one page fails: half a list is not shown as the whole', async () => {
    const transport = createFakeTransport({
      [target]: answerOf({ application_hosts: [] }, { headers: { link: '<?page=2>; rel="next"' } }),
      [`${target}?page=2`]: answerOf('', { status: 503 }),
    });
    const { source, signal } = aRestSource(transport.send);

    await expect(source.hostNames('12', signal)).rejects.toMatchObject({ reason: 'server' });
  });

  it('reject an id that is no number without a call', async () => {
    const transport = createFakeTransport({});
    const { source, signal } = aRestSource(transport.send);

    await expect(source.hostNames('../1', signal)).rejects.toMatchObject({ reason: 'client' });
    expect(transport.calls).toEqual([]);
  });
});
