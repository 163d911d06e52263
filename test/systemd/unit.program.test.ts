import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';
import { projectFolder } from '../docs/documents.ts';
import { withFiles } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';

const execute = promisify(execFile);
const analyze = toolOrSkip('systemd-analyze', process.env, 'apt-get install systemd');

const path = join(projectFolder, 'deploy/systemd/newrelic-exporter.service');
const text = readFileSync(path, 'utf8');

/** The values of a setting, in order. */
function valuesOf(name: string): readonly string[] {
  return [...text.matchAll(new RegExp(`^${name}=(.*)$`, 'gmu'))].map(([, value = '']) => value);
}

async function verify(file: string): Promise<{ readonly stderr: string }> {
  return execute(analyze.path, ['verify', '--man=no', file]);
}

async function security(file: string): Promise<{ readonly stdout: string }> {
  return execute(analyze.path, [
    'security',
    '--offline=true',
    '--no-pager',
    // Tenths of the exposure, which goes up to 10.
    '--threshold=20',
    file,
  ]);
}

describe.skipIf(analyze.skip)(`the unit${analyze.note}`, () => {
  it('is correct for systemd', async () => {
    expect((await verify(path)).stderr).toBe('');
  });

  it('exposes the machine to next to nothing', async () => {
    expect((await security(path)).stdout).toMatch(/exposure level .*: [01]\.\d OK/u);
  });

  it.each([
    { what: 'a setting that does not exist', from: 'UMask=', to: 'Umaks=', problem: /Umaks/u },
    { what: 'a program that is not there', from: '/usr/bin/env', to: '/no', problem: /\/no/u },
  ])('would not be correct with $what', async ({ from, to, problem }) => {
    const files = { 'newrelic-exporter.service': text.replace(from, to) };

    const said = await withFiles(files, async (folder) =>
      verify(`${folder}/newrelic-exporter.service`).catch((error: unknown) => error),
    );

    expect(said).toMatchObject({ stderr: expect.stringMatching(problem) as unknown });
  });

  it('would be too exposed with the rights of root', async () => {
    const files = {
      'newrelic-exporter.service': text
        .replace('DynamicUser=yes', 'User=root')
        .replace(/^(?:CapabilityBoundingSet|SystemCallFilter|NoNewPrivileges)=.*\n/gmu, ''),
    };

    await withFiles(files, async (folder) => {
      await expect(security(`${folder}/newrelic-exporter.service`)).rejects.toMatchObject({
        code: 1,
      });
    });
  });
});

describe('the unit', () => {
  it('starts the daemon with flags that exist', () => {
    const [start = ''] = valuesOf('ExecStart');
    const [env, node, bundle, ...args] = start.split(' ');

    expect([env, node, bundle]).toEqual([
      '/usr/bin/env',
      'node',
      '/usr/local/lib/newrelic-exporter/newrelic-exporter.mjs',
    ]);
    expect(parseArguments(args, {})).toMatchObject({
      kind: 'run',
      command: 'serve',
      flags: { configFile: '/etc/newrelic-exporter/config.yaml', respawn: true },
    });
  });

  it('starts it again, whatever ends it, but not with a wrong flag', () => {
    expect([valuesOf('Restart'), valuesOf('RestartPreventExitStatus')]).toEqual([
      ['always'],
      ['2'],
    ]);
  });

  it('reloads with the signal that the daemon knows', () => {
    expect(valuesOf('ExecReload')).toEqual(['/bin/kill -HUP $MAINPID']);
  });

  it('leaves V8 its machine code', () => {
    expect(valuesOf('MemoryDenyWriteExecute')).toEqual(['no']);
  });
});
