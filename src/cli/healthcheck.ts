import type { Platform } from '../daemon/platform.ts';
import { askStatus } from '../server/ask-status.ts';
import type { Flags } from './flag-table.ts';
import type { Outcome } from './one-shot.ts';

/** For container probes, where no other HTTP client may be at hand. */
export async function healthcheck(
  { healthcheckUrl }: Pick<Flags, 'healthcheckUrl'>,
  { stderr }: Pick<Platform, 'stderr'>,
): Promise<Outcome> {
  const answer = await askStatus(healthcheckUrl, { timeoutMs: 3000 });
  if (answer.status === 200) return { exitCode: 0, output: '' };
  const found = answer.status === undefined ? answer.problem : `status ${answer.status}`;
  stderr.write(`${healthcheckUrl}: ${found}, expected status 200\n`);
  return { exitCode: 1, output: '' };
}
