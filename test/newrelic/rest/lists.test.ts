import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import {
  answerOf,
  createFakeTransport,
  type ScriptedAnswer,
} from '../../support/fake-transport.ts';
import { neverAborted } from '../calls/fakes.ts';
import { aRestSource, nextPage, sampleText } from './a-rest-source.ts';

const target = '/v2/applications/12/hosts.json';

function filtered(name: string): string {
  return `${target}?filter[hostname]=${name}`;
}

function hostsOf(...hosts: readonly (readonly [id: number, name: string])[]): ScriptedAnswer {
  return answerOf({ application_hosts: hosts.map(([id, host]) => ({ id, host })) });
}

type Answers = Readonly<Record<string, ScriptedAnswer>>;

/**
 * The names that a poll finds by this script, of all hosts of the application 12 or of one that has one of
 * the wanted names, and why some may be missing.
 */
async function namesFound(
  script: Parameters<typeof createFakeTransport>[0],
  wanted?: readonly string[],
) {
  const transport = createFakeTransport(script);
  const { client, failures } = aRestSource(transport.send);
  const { names, error, calls } = await client.hostNames('12', { signal: neverAborted }, wanted);
  expect(transport.unused()).toEqual([]);
  return { names: Object.fromEntries(names), error, calls, failures, transport };
}

describe('the host names of an application', () => {
  it('are read from the sample', async () => {
    const text = sampleText('08-application-hosts-list-python-2014.json');
    const found = await namesFound({ [target]: answerOf(text) });

    expect(found).toMatchObject({
      names: { 1234567: 'ip-10-1-19-12' },
      error: undefined,
      calls: 1,
    });
    expect(found.transport.calls).toMatchObject([
      { operation: 'list_hosts', answerSize: 'medium', timeoutMs: 10_000, mayRetry: false },
    ]);
  });

  it('leave out a host without a readable id or name, and keep every digit', async () => {
    const body =
      '{"application_hosts":[null,{"id":1},{"id":2,"host":""},{"id":3,"host":7},{"host":"x"},' +
      '{"id":12345678901234567890,"host":"long"}]}';

    expect(await namesFound({ [target]: answerOf(body) })).toMatchObject({
      names: { '12345678901234567890': 'long' },
    });
  });

  it.each([
    ['no list', answerOf({}), 'schema', 'the answer has no list of application_hosts'],
    [
      'no such application',
      answerOf('{}', { status: 404 }),
      'not_found',
      'status 404. New Relic no longer has it',
    ],
    ['an empty answer', answerOf(''), 'not_json', 'the answer is empty. Check base_url'],
  ])(
    'are missing, for a reason that names the application: %s',
    async (_, answer, reason, says) => {
      const { names, error, calls } = await namesFound({ [target]: answer });

      expect([names, calls]).toEqual([{}, 1]);
      expect(error).toMatchObject({ name: 'ApiError', reason });
      expect(error?.message).toContain(`list_hosts of application 12: ${says}`);
    },
  );

  it('are those of the pages before one that fails', async () => {
    const first = answerOf({ application_hosts: [{ id: 1, host: 'a' }] }, { headers: nextPage(2) });
    const script = { [target]: first, [`${target}?page=2`]: answerOf('', { status: 503 }) };

    expect(await namesFound(script)).toMatchObject({
      names: { 1: 'a' },
      error: { status: 503 },
      calls: 2,
    });
  });

  const all = hostsOf([1, 'web-1'], [2, 'NODE-B']);
  const refused = (status: number) => new ApiError('client', `HTTP ${status}`, { status });
  it.each<[string, Answers, object]>([
    [
      'which the vendor takes for a part of it',
      { 'pod-a': hostsOf([1, 'POD-A'], [11, 'pod-a1']) },
      { names: { 1: 'POD-A', 11: 'pod-a1' } },
    ],
    [
      'and then by the other',
      { 'pod-a': hostsOf([7, 'pod-a2']), 'node-b': hostsOf([2, 'node-b']) },
      { names: { 2: 'node-b' }, calls: 2 },
    ],
    [
      'and are all listed, once, if the vendor ignores that',
      { 'pod-a': all },
      { names: { 2: 'NODE-B' } },
    ],
    [
      'even if none of all is wanted',
      { 'pod-a': hostsOf([1, 'web-1']) },
      { names: { 1: 'web-1' } },
    ],
    ...[400, 422].map((status): [string, Answers, object] => [
      `and are all listed, once, if the vendor refuses that with ${status}`,
      { 'pod-a': refused(status), all },
      { names: { 2: 'NODE-B' }, calls: 2 },
    ]),
    [
      'and no further after a failure',
      { 'pod-a': answerOf('', { status: 500 }) },
      { names: {}, error: { reason: 'server' } },
    ],
  ])('are looked up by the name of one host, %s', async (_, answers, is) => {
    const script = Object.fromEntries(
      Object.entries(answers).map(([name, answer]) => [
        name === 'all' ? target : filtered(name),
        answer,
      ]),
    );

    expect(await namesFound(script, ['pod-a', 'node-b'])).toMatchObject({ calls: 1, ...is });
  });

  it.each(['x'.repeat(255), 'quo"te', 'li\nne', 'größe-検索', 'a+b c%20&d=e'])(
    'are looked up by any name, on every page: %j',
    async (name) => {
      const other = answerOf(
        { application_hosts: [{ id: 1, host: `${name}2` }] },
        { headers: nextPage(2) },
      );
      const script = { [filtered(name)]: other, [`${filtered(name)}&page=2`]: hostsOf([2, name]) };
      const { names, transport } = await namesFound(script, [name]);
      const [call] = transport.calls;

      expect(names).toMatchObject({ 2: name });
      expect(new URLSearchParams(call?.target.split('?')[1]).get('filter[hostname]')).toBe(name);
    },
  );
});
