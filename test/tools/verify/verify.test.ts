import { readdir, readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api-error.ts';
import { facts } from '../../../src/tools/verify/facts.ts';
import { withFiles } from '../../support/daemon-process.ts';
import { eachAfter } from '../../support/slow.ts';
import {
  manyApplications,
  twoApis,
  type Variant,
  type Verified,
  verified,
} from './verify-bench.ts';

const onlyRest = twoApis.replace('account_id: 1234567, ', '');

function verdictsOf({ seen }: Verified): ReadonlyMap<string, string> {
  return new Map([...seen].map(([id, { verdict }]) => [id, verdict]));
}

function undecided({ seen }: Verified): readonly string[] {
  return [...seen].filter(([, { verdict }]) => verdict === 'cannot tell').map(([id]) => id);
}

describe('verify', () => {
  it('finds that everything holds over the simulator, with the calls that it has planned', async () => {
    const { stdout: plan, sent: before } = await verified({ args: ['--dry-run'] });
    const one = await verified({ fleet: manyApplications });

    expect(before).toEqual([]);
    expect(verdictsOf(one)).toEqual(new Map(facts.map(({ id }) => [id, 'holds'])));
    expect(one.exitCode).toBe(0);
    const planned = Number(/account one: (\d+) calls/u.exec(plan)?.[1]);
    expect(one.sent.length).toBe(planned);
    expect(planned).toBeLessThanOrEqual(60);
    expect(one.violations).toBe(0);
    expect(one.sent.filter(({ text }) => /mutation/iu.test(text))).toEqual([]);
  });

  it('says before what it would ask: each fact, with its calls', async () => {
    const { stdout, exitCode } = await verified({ args: ['--dry-run'] });

    for (const { id, fact, calls } of facts) {
      const row = stdout.split('\n').find((line) => line.startsWith(`| ${id} |`));
      expect(row).toContain(fact);
      for (const { name } of calls) expect(row).toContain(name);
    }
    expect(exitCode).toBe(0);
  });

  it('has a whole row for every fact', () => {
    for (const { id, fact, source, sign, differs, calls } of facts) {
      expect(id).toMatch(/^(?:rest|nerdgraph|query|series|both)-[a-z-]+$/u);
      expect(fact).not.toBe('');
      expect(source).toMatch(/\b[DVCIU]\b/u);
      expect(sign).not.toBe('');
      expect(differs).toMatch(/^.+\. Now: .+$/u);
      expect(calls.length).toBeGreaterThan(0);
    }
  });
});

const canaries = ['Canary', 'canary', '7654321', '8765432', '9876543', 'NRAK-GOOD'];

describe('the report', () => {
  it('holds nothing of the account, whatever New Relic answers', async () => {
    const fleet = {
      applications: [
        {
          id: 7_654_321,
          name: 'Canary shop',
          kind: 'both',
          hosts: [
            { id: 9_876_543, name: 'web-canary-1.example' },
            { id: 9_876_544, name: 'web-canary-2.example' },
          ],
          tags: { team: 'Canary team' },
        },
        { id: 8_765_432, name: "Canary's other", kind: 'web', hosts: 1 },
      ],
    } as const;
    const said =
      'Canary shop, 7654321, web-canary-1.example, web-canary-2.example of 1234567: "Canary team" NRAK-GOOD';
    const echoes: Variant = ({ text }, answer) => {
      if (/AS c1|entitySearch|applications\.json|hosts\.json|accounts/u.test(text)) return answer;
      const isRest = text.startsWith('/v2');
      const failure = isRest
        ? { error: { title: said } }
        : { errors: [{ message: said, extensions: { errorClass: 'INVALID_INPUT' } }] };
      return { ...answer, status: isRest ? 404 : 200, body: JSON.stringify(failure) };
    };
    const config = twoApis.replaceAll('one', 'CanaryAccount');

    const good = await verified({ fleet, config });
    const bad = await verified({ fleet, config, variant: echoes });

    for (const { stdout } of [good, bad]) {
      const found = [...canaries, '1234567', 'Simulated account'].filter((one) =>
        stdout.includes(one),
      );
      expect(found).toEqual([]);
      expect(stdout).toContain('read it before you send it');
    }
    expect(bad.stdout).toContain('| refused with status 404 |');
    expect(bad.stdout).toContain('| refused with status 400: INVALID_INPUT |');
  });

  it('says what was replaced, at its head', async () => {
    const { stdout } = await verified({});

    const [head = ''] = stdout.split('## account-1');
    for (const what of ['accounts', 'applications', 'hosts', 'keys', 'addresses', 'stand-ins']) {
      expect(head).toContain(what);
    }
  });

  it('is written to a file, and the output says in a sentence what it says', async () => {
    await withFiles({}, async (directory) => {
      const file = `${directory}/report.md`;

      const { stdout, exitCode } = await verified({
        args: [`--output=${file}`],
        fleet: manyApplications,
      });

      const text = await readFile(file, 'utf8');
      expect(text).toMatch(/^# What New Relic answers/u);
      expect(stdout).toContain(`${facts.length} facts hold, 0 differ, 0 cannot be told`);
      expect(stdout.split('\n')).toHaveLength(2);
      expect(exitCode).toBe(0);
    });
  });

  it.each([{ before: undefined }, { before: '# What New Relic answers: newrelic-exporter 0.0.1' }])(
    'is not written when the command is interrupted, and what was there stays: $before',
    async ({ before }) => {
      await withFiles(before === undefined ? {} : { 'report.md': before }, async (directory) => {
        const { exitCode } = await verified({
          args: [`--output=${directory}/report.md`],
          variant: (_, answer, stop) => {
            stop();
            return answer;
          },
        });

        const names = await readdir(directory);
        expect(names).toEqual(before === undefined ? [] : ['report.md']);
        const texts = names.map(async (name) => readFile(`${directory}/${name}`, 'utf8'));
        expect(await Promise.all(texts)).toEqual(before === undefined ? [] : [before]);
        expect(exitCode).toBe(143);
      });
    },
  );

  it('is refused before anything is asked where it cannot be written', async () => {
    const one = await verified({ args: ['--output=/no/such/folder/report.md'] });

    expect(one.stderr).toMatch(
      /--output: there is no directory \/no\/such\/folder: make it first/u,
    );
    expect(one.exitCode).toBe(2);
    expect(one.sent).toEqual([]);
  });
});

/** From a call on something else comes in place of each answer. */
function from(
  call: number,
  last: number,
  does: (answer: Parameters<Variant>[1]) => Parameters<Variant>[1],
) {
  let calls = 0;
  const variant: Variant = (_, answer) => {
    calls += 1;
    return calls >= call && calls <= last ? does(answer) : answer;
  };
  return variant;
}

describe('a call that fails', () => {
  eachAfter(1, [
    {
      what: 'a time-out',
      does: (): never => {
        throw new ApiError('timeout', 'no complete answer');
      },
      says: 'no answer (timeout)',
    },
    {
      what: 'a page of a gateway',
      does: (answer: Parameters<Variant>[1]) => ({ ...answer, body: '<html></html>' }),
      says: 'the answer is not JSON',
    },
  ])(
    'in the middle leaves its facts open, and the rest is asked: $what',
    async ({ does, says }) => {
      const whole = await verified({ fleet: manyApplications });

      const one = await verified({ fleet: manyApplications, variant: from(20, 20, does) });

      expect(one.sent.map(({ text }) => text)).toEqual(whole.sent.map(({ text }) => text));
      expect(undecided(one).length).toBeGreaterThan(0);
      for (const id of undecided(one)) expect(one.seen.get(id)?.text).toContain(says);
      expect([...verdictsOf(one).values()]).not.toContain('differs');
      expect(one.exitCode).toBe(0);
    },
  );

  it('for lack of rights leaves its facts open, from then on', async () => {
    const forbidden = from(20, 1000, (answer) => ({ ...answer, status: 403, body: '{}' }));

    const one = await verified({ variant: forbidden });

    expect([...verdictsOf(one).values()]).not.toContain('differs');
    expect(verdictsOf(one).get('nerdgraph-count')).toBe('holds');
    expect(one.seen.get('both-values')?.text).toContain('status 403');
  });
});

describe('an account that has no answer at all', () => {
  it.each([
    {
      what: 'the key is refused',
      does: (answer: Parameters<Variant>[1]) => ({ ...answer, status: 401, body: '{}' }),
      says: 'status 401',
    },
    {
      what: 'New Relic is gone',
      does: (): never => {
        throw new ApiError('connect', 'connection refused');
      },
      says: 'no answer (connect)',
    },
  ])('ends with 1, the reason and what to do: $what', async ({ does, says }) => {
    const { stderr, exitCode, seen } = await verified({ variant: from(1, 1000, does) });

    expect(stderr).toContain('account one');
    expect(stderr).toContain(says);
    expect(stderr).toContain('check-config --online');
    expect(exitCode).toBe(1);
    expect(new Set([...seen.values()].map(({ verdict }) => verdict))).toEqual(
      new Set(['cannot tell']),
    );
  });
});

describe('an account that lacks something', () => {
  it('is asked with REST alone if it has no account_id', async () => {
    const one = await verified({ fleet: manyApplications, config: onlyRest });

    const ofNerdgraph = facts.filter(({ calls }) =>
      calls.some(({ api, isNeeded }) => isNeeded && api !== 'rest'),
    );
    expect(undecided(one)).toEqual(ofNerdgraph.map(({ id }) => id));
    for (const { id } of ofNerdgraph) expect(one.seen.get(id)?.text).toContain('account_id');
    expect(one.sent.every(({ text }) => text.startsWith('/v2/'))).toBe(true);
  });

  it.each([
    { what: 'applications', fleet: { applications: 0 }, says: 'no selected application' },
    {
      what: 'hosts',
      fleet: { applications: [{ kind: 'both', hosts: 0 }] } as const,
      says: 'no host',
    },
    { what: 'a second page', fleet: { applications: 3 }, says: 'the list has one page' },
    {
      what: 'a second application',
      fleet: { applications: [{ kind: 'both' }] } as const,
      says: 'there is no second application',
    },
  ])('has facts that cannot be told, with the reason: $what', async ({ fleet, says }) => {
    const one = await verified({ fleet });

    expect([...one.seen.values()].map(({ text }) => text)).toContainEqual(
      expect.stringContaining(says),
    );
    expect([...verdictsOf(one).values()]).not.toContain('differs');
    expect(one.exitCode).toBe(0);
  });

  it('asks about an application that the configuration selects', async () => {
    const fleet = {
      applications: [
        { id: 101, name: 'busy', kind: 'both', webRpm: 9000 },
        { id: 102, name: 'wanted', kind: 'both', webRpm: 10 },
      ],
    } as const;

    const { sent } = await verified({ fleet, config: twoApis.replace('"."', '"^wanted$"') });

    const asked = sent.filter(({ text }) => text.includes('metrics/data.json'));
    expect(asked.length).toBeGreaterThan(0);
    expect(asked.every(({ text }) => text.includes('/applications/102/'))).toBe(true);
  });
});

describe('--account', () => {
  const two = twoApis.replace(
    ']\n',
    ', { name: two, account_id: 7, region: us, api_key_env: KEY }]\n',
  );
  const oneOfTwo = two.replace('{ match', '{ account: one, match');

  it.each([
    { args: ['--account=one'], accounts: 1 },
    { args: [], accounts: 2 },
  ])('chooses: $args', async ({ args, accounts }) => {
    const config = two.replace('apps: [{', 'apps: [{ account: two, match: "." }, { account: one,');

    const { stdout } = await verified({ args, config });

    expect(stdout.match(/^## account-/gmu)).toHaveLength(accounts);
  });

  it.each([
    { wanted: 'thre', hint: 'there are: one, two' },
    { wanted: 'q', hint: 'there are: one, two' },
    { wanted: 'twp', hint: 'did you mean "two"?' },
  ])('refuses one that is not there, and names those that are: $wanted', async (row) => {
    const args = [`--account=${row.wanted}`];

    const { stderr, exitCode, sent } = await verified({ args, config: oneOfTwo });

    expect(stderr).toContain('--account');
    expect(stderr).toContain(row.wanted);
    expect(stderr).toContain(row.hint);
    expect(exitCode).toBe(2);
    expect(sent).toEqual([]);
  });

  it('refuses one of which nothing is polled', async () => {
    const { stderr, exitCode, sent } = await verified({
      args: ['--account=two'],
      config: oneOfTwo,
    });

    expect(stderr).toContain('--account: two has nothing to poll');
    expect(exitCode).toBe(2);
    expect(sent).toEqual([]);
  });
});
