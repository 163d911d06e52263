import { describe, expect, it } from 'vitest';
import { failureOf, headlinesOf } from './config-failure.ts';

const apps = 'apps: [{id: 1}]';

/** A file with one account, written as a flow map. */
function account(keys: string): string {
  return `accounts: [{name: a, ${keys}}]\n${apps}`;
}

/** A file with a valid account that has some more keys. */
function accountWith(keys: string): string {
  return account(`api_key_env: KEY, ${keys}`);
}

describe('parseConfig, with errors', () => {
  it('says what is wrong, where, and what to do about it', async () => {
    expect((await failureOf('apps:\n  - nmae: shop\n')).split('\n')).toEqual([
      'config.yaml:2:5: unknown key "nmae"',
      '  2 |   - nmae: shop',
      '    |     ^^^^',
      '    = help: did you mean "name"?',
    ]);
  });

  it('shows all problems of a file in one run, in their order', async () => {
    const text = `
accounts:
  - name: a
    api_key_env: A
    region: usa
  - name: a
    base_url: https://user:hunter2@host
poll:
  interval: 60
apps:
  - nmae: shop
    labels: { job: x }
  - id: 1
    match: "("
    acount: b
tokens: 1
`;

    const places = (await headlinesOf(text)).map((line) => line.split(':').slice(1, 3).join(':'));

    expect(places).toEqual('5:13 6:5 6:11 7:15 9:13 11:5 12:15 14:5 14:12 15:5 16:1'.split(' '));
    expect(await failureOf(text)).not.toContain('hunter2');
  });

  it('suggests a valid interval for a zero', async () => {
    const [headline = ''] = await headlinesOf('poll: {interval: 0}\napps: [{id: 1}]');
    const suggested = headline.split(' ').at(-1);

    expect(headline).toContain('"interval" needs a unit: ms, s, m or h, such as ');
    expect(await headlinesOf(`poll: {interval: ${suggested}}\napps: [{nmae: x}]`)).toStrictEqual([
      'config.yaml:2:9: unknown key "nmae"',
    ]);
  });

  it('shows the first fifty errors, and how many more there are', async () => {
    const text = `apps:\n${'  - idd: 1\n'.repeat(1000)}`;

    const message = await failureOf(text);

    expect(message.match(/unknown key "idd"/gu)).toHaveLength(50);
    expect(message.endsWith('and 950 more')).toBe(true);
  });

  it('reports a wrong value with an anchor once, at its place', async () => {
    const text = 'apps:\n  - {id: 1, labels: &l {a: 1}}\n  - {id: 2, labels: *l}\n';

    expect(await headlinesOf(text)).toStrictEqual([
      'config.yaml:2:28: "a" must be a string, not 1',
    ]);
  });

  it.each([
    { text: account('api_key: hunter2') },
    { text: `${account('name2: x')}\napi_key: |\n  x\n  hunter2\n` },
    { text: `accounts:\n  - { name: a, api_key: hunter2 }\n  : [` },
    { text: accountWith('proxy_url: "http://user:hunter2@h:1/x"') },
    { text: `x: &k hunter2\napi_key: *k\n${apps}` },
  ])('never shows the secret of $text', async ({ text }) => {
    expect(await failureOf(text)).not.toContain('hunter2');
  });
});
