import { describe, expect, it } from 'vitest';
import { type Printed, printedBy, threeApplications } from '../survey/ask-bench.ts';

const main = `accounts: [{ name: main, base_url: "http://127.0.0.1", api_key_env: KEY }]
include: [teams/*.yaml]
`;

interface Teams {
  readonly own?: string;
  readonly a: string;
  readonly z: string;
}

async function checked({ own = '', a, z }: Teams, ...args: readonly string[]): Promise<Printed> {
  const files = {
    '/c.yaml': main + own,
    '/teams/a.yaml': `apps: [${a}]\n`,
    '/teams/z.yaml': `apps: [${z}]\n`,
  };
  const command = ['check-config', '/c.yaml', ...args];
  return printedBy({ fleet: threeApplications }, command, files);
}

const says = 'also selects';

describe('8.1 check-config, of entries in two files that select the same', () => {
  it.each([
    { what: 'an id', a: '{ id: 11 }', z: '{ id: 11, hosts: false }' },
    { what: 'a name, and a pattern for it', a: '{ name: shop }', z: '{ match: ^sh }' },
    {
      what: 'what one leaves out, and the other takes',
      a: '{ name: shop, exclude: true }',
      z: '{ match: . }',
    },
  ])('warns at the later one, which has it while the other is broken: $what', async ({ a, z }) => {
    const { exitCode, stderr } = await checked({ a, z });

    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^\/teams\/z\.yaml:1:\d+: warning: .*also selects .*teams\/a\.yaml/mu);
    expect(stderr.split(says)).toHaveLength(2);
  });

  it.each([
    { what: 'different ones', a: '{ id: 11 }', z: '{ id: 12 }' },
    { what: 'the same file', a: '{ name: shop }, { match: ^sh }', z: '{ id: 12 }' },
    {
      what: 'the file itself, without which there is none',
      own: 'apps: [{ name: shop, exclude: true }]\n',
      a: '{ match: ^sh }',
      z: '{ id: 12 }',
    },
  ])('says nothing of $what', async (teams) => {
    const { stderr } = await checked(teams);

    expect(stderr).not.toContain(says);
  });

  it('knows with --online what only patterns select', async () => {
    const { stdout } = await checked(
      { a: '{ match: ^s, exclude: true }', z: '{ match: . }' },
      '--online',
    );

    expect(stdout).toMatch(
      / warning \/teams\/z\.yaml:1:\d+: account main: match=\. also selects "s/u,
    );
    expect(stdout.split(says)).toHaveLength(2);
  });

  it('says it once, with --online, too', async () => {
    const { stdout } = await checked({ a: '{ name: shop }', z: '{ match: . }' }, '--online');

    expect(stdout.split(says)).toHaveLength(2);
  });
});
