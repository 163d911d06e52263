import { describe, expect, it } from 'vitest';
import { parseConfig } from '../../src/config/load-config.ts';
import { minuteMs } from '../../src/model/time.ts';
import { aRunningDaemon, keyA } from '../support/running-daemon.ts';

const newKey = 'NRAK-B';

/** When after the change of its file a new key is first used, and the old one last. */
async function usesOf(
  settings: string,
  rest: string,
  trouble: 'none' | 'lists hang' | 'key pauses' = 'none',
): Promise<{ readonly firstNewMs: number; readonly lastOldMs: number }> {
  const text = `
accounts: [{ name: one, api_key_file: /keys/a, ${settings} }]
${rest}`;
  const { config } = await parseConfig(text, { fileName: 'c.yaml', directory: '/' });
  const files: Record<string, string> = { '/keys/a': keyA };
  let [firstNewMs, lastOldMs] = [Infinity, 0];
  const { platform } = await aRunningDaemon(config, {
    files,
    wire: (wire) => ({
      ...wire,
      send: async (request, headers, signal) => {
        const nowMs = platform.clock.monotonicMs();
        if (headers['Api-Key'] === newKey) firstNewMs = Math.min(firstNewMs, nowMs);
        else lastOldMs = nowMs;
        if (headers['Api-Key'] === newKey) return wire.send(request, headers, signal);
        if (trouble === 'key pauses' && request.operation !== 'list_applications') {
          return { status: 429, headers: { 'retry-after': '240' }, body: '{}' };
        }
        if (trouble === 'lists hang' && request.operation === 'list_applications') {
          return new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
          });
        }
        return wire.send(request, headers, signal);
      },
    }),
  });
  await platform.clock.advance(90_000);
  const changedMs = platform.clock.monotonicMs();
  files['/keys/a'] = newKey;
  await platform.clock.advance(5 * minuteMs);

  return { firstNewMs: firstNewMs - changedMs, lastOldMs: lastOldMs - changedMs };
}

const nerdgraph = 'source: nerdgraph, account_id: 1234567';
const query = 'queries: [{ as: calls, nrql: SELECT count(*) FROM Transaction }]';

describe('8.4 a new key in its file takes the place of the old one within a minute', () => {
  it.each([
    ['with the usual settings', '', 'apps: [{ match: . }]', 'none'],
    ['with a discovery an hour', '', 'apps: [{ match: ., discovery_interval: 1h }]', 'none'],
    ['with queries only', nerdgraph, query, 'none'],
    ['while lists hang', '', 'apps: [{ match: . }]', 'lists hang'],
    ['while the old key pauses', '', 'apps: [{ match: . }]', 'key pauses'],
  ] as const)('%s', async (_, settings, rest, trouble) => {
    const { firstNewMs, lastOldMs } = await usesOf(settings, rest, trouble);

    expect(lastOldMs).toBeLessThanOrEqual(minuteMs);
    expect(firstNewMs).toBeLessThanOrEqual(1.5 * minuteMs);
  });
});
