import { askStatus } from '../server/ask-status.ts';
import type { ExitCode } from './exit-code.ts';
import type { Flags } from './flags.ts';
import type { Machine } from './machine.ts';

/** For container probes, where no other HTTP client may be at hand. */
export async function healthcheck(
  { healthcheckUrl }: Pick<Flags, 'healthcheckUrl'>,
  { stderr }: Pick<Machine, 'stderr'>,
): Promise<ExitCode> {
  const answer = await askStatus(healthcheckUrl, { timeoutMs: 3000 });
  if (answer.status === 200) return 0;
  const found = answer.status === undefined ? answer.problem : `status ${answer.status}`;
  stderr.write(`${healthcheckUrl}: ${found}, expected status 200\n`);
  return 1;
}
