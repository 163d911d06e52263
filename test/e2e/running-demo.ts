import { get, type Program, startProgram, stopProgram, until } from '../support/daemon-process.ts';

export interface RunningDemo {
  readonly program: Program;
  readonly url: string;
}

/** The demo, as soon as it is ready. */
export async function startDemo(source: string): Promise<RunningDemo> {
  const program = startProgram([
    'demo',
    '--web.listen-address=127.0.0.1:0',
    `--demo.source=${source}`,
  ]);
  try {
    return { program, url: await urlWhenReady(program) };
  } catch (error) {
    await stopProgram(program);
    throw error;
  }
}

async function urlWhenReady(program: Program): Promise<string> {
  const shown = await until(
    () => /status page\s+(http:\/\/localhost:\d+)\//u.exec(program.stdout())?.[1],
  );
  const url = shown.replace('localhost', '127.0.0.1');
  await until(async () => ((await get(`${url}/-/ready`)).status === 200 ? true : undefined));
  return url;
}

/** What the status page says of the account of the demo. */
export const demoSentence: RegExp = /11 applications(?: and 1 query)?, all polls succeed\./u;
