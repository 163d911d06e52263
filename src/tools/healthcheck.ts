import type { Flags } from '../cli/flag-table.ts';
import type { Outcome } from '../cli/one-shot.ts';
import { readFailure } from '../config/read-file.ts';
import { CommandError, type ToolPlatform } from '../daemon/platform.ts';
import { askStatus } from '../web/ask-status.ts';

/** For container probes, where no other HTTP client may be at hand. */
export async function healthcheck(
  { healthcheckUrl, clientCertFile, clientKeyFile }: Flags,
  { stderr, readFile }: ToolPlatform,
): Promise<Outcome> {
  const cert = await textOf('--tls.cert-file', clientCertFile, readFile);
  const key = await textOf('--tls.key-file', clientKeyFile, readFile);
  const answer = await askStatus(healthcheckUrl, { timeoutMs: 3000, cert, key });
  if (answer === 200) return { exitCode: 0, output: '' };
  const found = typeof answer === 'number' ? `status ${answer}` : answer;
  stderr.write(`${healthcheckUrl}: ${found}, expected status 200\n`);
  return { exitCode: 1, output: '' };
}

async function textOf(
  flag: string,
  path: string,
  readFile: ToolPlatform['readFile'],
): Promise<string | undefined> {
  if (path === '') return undefined;
  try {
    return new TextDecoder().decode(await readFile(path));
  } catch (error) {
    throw new CommandError(2, `${flag}: ${path} ${readFailure(error)}`, { cause: error });
  }
}
