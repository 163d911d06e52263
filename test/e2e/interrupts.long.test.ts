import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/daemon/node-platform.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import { mainFile, msUntilEnd, startProgram, until, withFiles } from '../support/daemon-process.ts';

const key = 'NRAK-INTERRUPTS';
const signals = [
  { signal: 'SIGTERM', code: 143 },
  { signal: 'SIGINT', code: 130 },
] as const;

function configOf(baseUrl: string): string {
  return `accounts:\n  - { name: one, base_url: "${baseUrl}", api_key_env: KEY, account_id: 1234567 }\napps: [{ id: 101 }]\n`;
}

describe('a command against a vendor that takes its time', () => {
  const asked: string[] = [];
  let slow: Server;
  let url = '';

  beforeAll(async () => {
    slow = createServer(({ url: path }) => {
      asked.push(path ?? '');
    });
    slow.listen(0, '127.0.0.1');
    await once(slow, 'listening');
    url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  });

  afterAll(() => {
    slow.closeAllConnections();
    slow.close();
  });

  describe.each([
    { command: 'once --config.file=FILE' },
    { command: 'plan --online FILE' },
    { command: 'plan --online -o json FILE' },
    { command: 'check-config --online FILE' },
    { command: 'discover FILE' },
    { command: 'discover -o yaml FILE' },
    { command: 'compare FILE' },
    { command: 'healthcheck --url=URL' },
  ])('$command', ({ command }) => {
    it.each(signals)(
      'leaves with $code and prints nothing on $signal, although the vendor is slow',
      async ({ signal, code }) => {
        await withFiles({ 'config.yaml': configOf(url) }, async (directory) => {
          const words = command.replace('FILE', `${directory}/config.yaml`).replace('URL', url);
          const before = asked.length;

          const program = startProgram(words.split(' '), { KEY: key });
          await until(() => (asked.length > before ? true : undefined));
          program.child.kill(signal);
          const tookMs = await msUntilEnd(program);
          const ended = await program.ended;

          expect(ended.code).toBe(code);
          expect(ended.stdout).toBe('');
          expect(ended.stderr).toMatch(/^interrupted before it was done$/mu);
          expect(ended.stderr).not.toContain('fault of the program');
          expect(tookMs).toBeLessThan(2000);
        });
      },
    );
  });
});

describe('the demo', () => {
  it.each(signals)(
    'leaves with 0 on $signal: it is over when it is stopped',
    async ({ signal }) => {
      const program = startProgram(['demo', '--web.listen-address=127.0.0.1:0']);
      await until(() => (program.stdout().includes('status page') ? true : undefined));

      program.child.kill(signal);
      const { code } = await program.ended;

      expect(code).toBe(0);
    },
  );
});

describe('an output', () => {
  const applications = 4000;
  let simulator: Simulator;
  let config = '';

  beforeAll(async () => {
    simulator = createSimulator(
      { apiKeys: [key], fleet: { applications, hosts: 0 } },
      { clock: createSystemClock() },
    );
    config = configOf((await simulator.start()).baseUrl);
  });

  afterAll(async () => {
    await simulator.stop();
  });

  it('arrives whole where the reader of a pipe is slow', async () => {
    await withFiles({ 'config.yaml': config }, async (directory) => {
      const program = spawn(
        process.execPath,
        [mainFile, 'discover', '-o', 'json', `${directory}/config.yaml`],
        { env: { KEY: key }, stdio: ['ignore', 'pipe', 'inherit'] },
      );
      // More than the system and our own stream keep: the rest must wait for us.
      await once(program.stdout, 'readable');
      const parts: Buffer[] = [];
      for await (const part of program.stdout) parts.push(part as Buffer);
      const text = Buffer.concat(parts).toString();

      expect(text.length).toBeGreaterThan(500_000);
      expect(JSON.parse(text)).toHaveLength(applications);
      expect(program.exitCode ?? (await once(program, 'exit'))[0]).toBe(0);
    });
  });

  it.each(signals)(
    'that is still being read when $signal comes ends with $code',
    async ({ signal, code }) => {
      await withFiles({ 'config.yaml': config }, async (directory) => {
        const program = spawn(
          process.execPath,
          [mainFile, 'discover', '-o', 'json', `${directory}/config.yaml`],
          { env: { KEY: key }, stdio: ['ignore', 'pipe', 'ignore'] },
        );
        await once(program.stdout, 'readable');

        program.kill(signal);
        const [exitCode] = await once(program, 'exit');
        program.stdout.destroy();

        expect(exitCode).toBe(code);
      });
    },
  );

  it.for([
    { what: 'the disk is full', script: '"$@" > /dev/full', says: 'ENOSPC' },
    {
      what: 'a file was written in part when its disk became full',
      script: 'ulimit -f 8; "$@" > "$OUTPUT"',
      says: 'EFBIG',
    },
    { what: 'nobody reads', script: 'exec 3>&1; { "$@"; echo $? >&3; } | true', says: 'EPIPE' },
  ])('is a failure with a message: $what', async ({ script, says }, { skip }) => {
    skip(!existsSync('/dev/full'), 'this system has no /dev/full');
    await withFiles({ 'config.yaml': config }, async (directory) => {
      const args = [process.execPath, mainFile, 'discover', `${directory}/config.yaml`];
      const env = { PATH: process.env['PATH'], KEY: key, OUTPUT: `${directory}/output` };

      const { stdout, stderr } = await promisify(execFile)(
        'bash',
        ['-c', `${script}; echo $?`, 'bash', ...args],
        { env },
      );

      expect(stdout).toMatch(/^1\n/u);
      expect(stderr).toContain('standard output cannot be written');
      expect(stderr).toContain(says);
    });
  });
});
