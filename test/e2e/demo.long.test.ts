import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { stopProgram } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';
import { demoSentence, startDemo } from './running-demo.ts';

const chromium = toolOrSkip('chromium');

/** Chromium's own connections to the world are switched off: the tests stay on loopback. */
const chromiumFlags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

async function domOf(url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'newrelic-exporter-chromium-'));
  try {
    const { stdout } = await promisify(execFile)(chromium.path, [
      ...chromiumFlags,
      `--user-data-dir=${profile}`,
      '--dump-dom',
      url,
    ]);
    return stdout;
  } finally {
    await rm(profile, { recursive: true, force: true });
  }
}

describe.each(['rest', 'nerdgraph'])('the demo over %s', (source) => {
  it.skipIf(chromium.skip)(
    `shows the account on its page in a browser${chromium.note}`,
    async () => {
      const { program, url } = await startDemo(source);
      onTestFinished(async () => {
        await stopProgram(program);
      });
      const dom = await domOf(`${url}/`);

      expect(dom).toContain('New Relic exporter');
      expect(dom).toMatch(demoSentence);
      expect(dom).toContain('href="./metrics"');
    },
  );
});
