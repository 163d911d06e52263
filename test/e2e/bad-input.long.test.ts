import { execFileSync } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { freePort, startProgram, withFiles } from '../support/daemon-process.ts';

const good = 'accounts:\n  - { name: one, region: us, api_key_file: api-key }\napps:\n  - id: 1\n';

interface BadInput {
  readonly what: string;
  readonly config: string;
  readonly key?: string;
  readonly says: readonly string[];
}

const badInputs: readonly BadInput[] = [
  {
    what: 'an unknown key',
    config: good.replace('- id: 1', '- id: 1\n    intervall: 30s'),
    says: [
      'config.yaml:5:5: ',
      'unknown key',
      '    intervall: 30s',
      '^^^^^^^^^',
      'did you mean "interval"',
    ],
  },
  {
    what: 'several errors at once',
    config: good.replace('region: us', 'region: mars').replace('- id: 1', '- idd: 1'),
    says: ['config.yaml:2:26: ', 'config.yaml:4:5: ', 'did you mean "id"'],
  },
  {
    what: 'a key file that is not there',
    config: good.replace('api-key }', 'nowhere }'),
    says: ['nowhere', 'does not exist', 'create it'],
  },
  {
    what: 'a key in quotes',
    config: good,
    key: '"NRAK-SECRET"\n',
    says: ['api-key', 'remove the quotes'],
  },
  {
    what: 'the key itself in the file',
    config: good.replace('api_key_file: api-key', 'api_key: NRAK-SECRET'),
    says: ['config.yaml:2:', 'api_key_file'],
  },
];

describe.each(['serve', 'check-config'])('%s', (command) => {
  it.each(badInputs)(
    'refuses $what with exit code 2 and a message',
    async ({ config, key, says }) => {
      await withFiles(
        { 'config.yaml': config, 'api-key': key ?? 'NRAK-SECRET' },
        async (directory) => {
          const file = `--config.file=${directory}/config.yaml`;
          const listen = command === 'serve' ? ['--web.listen-address=127.0.0.1:0'] : [];

          const { code, stderr, stdout } = await startProgram([command, file, ...listen]).ended;

          expect(code).toBe(2);
          for (const words of says) expect(stderr).toContain(words);
          expect(stderr).not.toMatch(/NRAK-S|\n\s+at /u);
          expect(stdout).toBe('');
        },
      );
    },
  );
});

interface Pipe {
  readonly name: string;
  readonly config: string;
  readonly says: readonly string[];
}

/** Nobody writes into these: whoever opens one as if it were a file waits for ever. */
const pipes: readonly Pipe[] = [
  { name: 'config.yaml', config: '', says: ['--config.file'] },
  { name: 'api-key', config: good, says: ['is not a regular file', 'create it'] },
  {
    name: 'ca.pem',
    config: good.replace('api-key }', 'good-key, ca_file: ca.pem }'),
    says: ['is not a regular file', 'create it'],
  },
];

describe.each(['serve', 'once', 'check-config'])('%s', (command) => {
  it.each(pipes)('refuses a named pipe as $name at once', async ({ name, config, says }) => {
    const files = { 'config.yaml': config, 'good-key': 'NRAK-SECRET', 'api-key': 'NRAK-SECRET' };
    await withFiles(files, async (directory) => {
      await rm(join(directory, name), { force: true });
      execFileSync('mkfifo', [join(directory, name)]);

      const { code, stderr } = await startProgram([
        command,
        `--config.file=${directory}/config.yaml`,
      ]).ended;

      expect(code).toBe(2);
      expect(stderr).toContain(name);
      expect(stderr).toContain('is not a regular file');
      for (const words of says) expect(stderr).toContain(words);
    });
  });
});

describe('the program', () => {
  it('says which file is good', async () => {
    await withFiles({ 'config.yaml': good, 'api-key': 'NRAK-SECRET' }, async (directory) => {
      const { code, stdout } = await startProgram(['check-config', `${directory}/config.yaml`])
        .ended;

      expect(code).toBe(0);
      expect(stdout).toContain('config.yaml: ok, 1 account, 1 entry of apps');
    });
  });

  it('names the address and the remedy when its port is taken, with exit code 1', async () => {
    const port = await freePort();
    const taken = createServer();
    await new Promise<void>((resolve) => {
      taken.listen(port, '127.0.0.1', resolve);
    });
    await withFiles({ 'config.yaml': good, 'api-key': 'NRAK-SECRET' }, async (directory) => {
      const { code, stderr } = await startProgram([
        `--config.file=${directory}/config.yaml`,
        `--web.listen-address=127.0.0.1:${port}`,
      ]).ended;
      taken.close();

      expect(code).toBe(1);
      expect(stderr).toContain(`127.0.0.1:${port}`);
      expect(stderr).toContain('--web.listen-address');
      expect(stderr).not.toMatch(/\n\s+at /u);
    });
  });

  it.each([10, 40, 70, 100, 150])(
    'ends with 0 when it is stopped %d ms after its start',
    async (ms) => {
      await withFiles({ 'config.yaml': good, 'api-key': 'NRAK-SECRET' }, async (directory) => {
        const program = startProgram([
          `--config.file=${directory}/config.yaml`,
          '--web.listen-address=127.0.0.1:0',
        ]);
        await delay(ms);
        program.child.kill('SIGTERM');
        const { code, stderr } = await program.ended;

        // Before Node has run our first line, its own default ends the process by the signal.
        const isTooEarly = code === null && stderr === '';
        expect(isTooEarly || code === 0).toBe(true);
        expect(stderr).not.toContain('fault of the program');
      });
    },
  );

  it('does not fail when nobody reads what it writes', async () => {
    const program = startProgram(['--help']);
    program.child.stdout?.destroy();
    program.child.stderr?.destroy();

    const { code } = await program.ended;

    expect(code).toBe(0);
  });

  it.each([
    { args: ['--version'], code: 0, says: 'newrelic-exporter, version 0.1.0' },
    { args: ['--help'], code: 0, says: '--config.file' },
    { args: ['--web.listen-adress=:1'], code: 2, says: '--web.listen-address' },
    { args: ['--config.file=/nowhere/config.yaml'], code: 2, says: '/nowhere/config.yaml' },
    {
      args: ['--web.listen-address=:9126', '--web.listen-address=:9126'],
      code: 2,
      says: '--web.listen-address: ":9126" is given more than once',
    },
    { args: ['chekc-config'], code: 2, says: 'check-config' },
  ])('answers $args with exit code $code', async ({ args, code, says }) => {
    const ended = await startProgram(args).ended;

    expect(ended.code).toBe(code);
    expect(ended.stdout + ended.stderr).toContain(says);
  });
});
