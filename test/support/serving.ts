import { expect } from 'vitest';
import { run } from '../../src/cli/run.ts';
import type { RawTransport } from '../../src/newrelic/calls/transport.ts';
import { get, type Page } from './daemon-process.ts';
import type { FakePlatform } from './fake-platform.ts';

/** A vendor that never answers. */
export const silentTransport: RawTransport = {
  send: async (_request, _headers, signal) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
    }),
  close: async () => undefined,
};

/** The command `serve`, which listens by now. */
export interface Serving {
  /** The lines of its log whose message begins like this. */
  readonly lines: (message: string) => readonly Readonly<Record<string, unknown>>[];
  readonly page: (path: string, method?: 'GET' | 'POST') => Promise<Page>;
}

/** Runs `serve` with `/config.yaml` and these arguments until the test is done with it. */
export async function withServing(
  args: readonly string[],
  platform: FakePlatform,
  use: (serving: Serving) => Promise<void>,
): Promise<void> {
  const common = ['--config.file=/config.yaml', '--web.listen-address=127.0.0.1:0'];
  const state = { hasEnded: false };
  const ending = run(['serve', ...common, '--log.format=json', ...args], platform).finally(() => {
    state.hasEnded = true;
  });
  const lines: Serving['lines'] = (message) =>
    platform.stderr
      .text()
      .split('\n')
      .filter((line) => line.includes(`"msg":"${message}`))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  while (lines('listening').length === 0) {
    if (state.hasEnded) throw new Error(`serve has ended: ${platform.stderr.text()}`);
    await platform.clock.advance(0);
  }
  const port = /"host":"127\.0\.0\.1","port":(\d+)/u.exec(platform.stderr.text())?.[1];
  const page: Serving['page'] = async (path, method) =>
    get(`http://127.0.0.1:${port}${path}`, method);
  try {
    await use({ lines, page });
  } finally {
    platform.stop();
    while (!state.hasEnded) await platform.clock.advance(1000);
    expect(await ending).toBe(0);
  }
}
