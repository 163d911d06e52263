import { parseConfig } from '../../src/config/load-config.ts';
import { createStatusSource } from '../../src/daemon/serve.ts';
import type { Config } from '../../src/model/config.ts';
import type { QueryStatus, ReloadStatus, StatusSource } from '../../src/model/status.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiRequest, ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { aRunningDaemon, type RunningDaemon, type RunningDaemonOptions } from './running-daemon.ts';

export interface ConfigParts {
  /** The account, with what is put behind its usual settings. */
  readonly account?: string;
  readonly poll?: string;
  readonly apps?: string;
  /** The entries of `queries`, each from its `- as:` on; empty for none. */
  readonly queries?: string;
}

/** What a file with one account, `one` with NerdGraph, amounts to. */
export async function queryConfig({
  account = 'api_key_env: KEY_A',
  poll = '',
  apps = 'apps: [{ match: ., discovery_interval: 60s }]',
  queries = '',
}: ConfigParts): Promise<Config> {
  const text = `
accounts: [{ name: one, source: nerdgraph, account_id: 1234567, timeout: 10s, ${account} }]
${[poll, apps, queries === '' ? '' : `queries:\n${queries}`].join('\n')}`;
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

/** A minute of the daemon with such a configuration. */
export async function queriesStarted(
  parts: ConfigParts,
  options: RunningDaemonOptions = {},
): Promise<RunningDaemon> {
  const bench = await aRunningDaemon(await queryConfig(parts), options);
  await bench.platform.clock.advance(minuteMs);
  return bench;
}

/** The series of the page that begin so. */
export async function linesOf(
  { page }: Pick<RunningDaemon, 'page'>,
  start: RegExp,
): Promise<readonly string[]> {
  return (await page()).split('\n').filter((line) => start.test(line) && !line.startsWith('#'));
}

/** The series of the exporter's own metrics that begin so. */
export async function ownLinesOf(
  { daemon }: RunningDaemon,
  start: RegExp,
): Promise<readonly string[]> {
  return linesOf({ page: async () => daemon.metrics.text() }, start);
}

export type Answering = (request: ApiRequest) => ApiResponse | Error | 'hang' | undefined;

/** What stands in the place of New Relic's answers; a test may change it. */
export interface Fault {
  answer: Answering;
}

/** A wire on which `fault` answers; `undefined` for what New Relic does. */
export function faulty(fault: Fault): Pick<RunningDaemonOptions, 'wire'> {
  return {
    wire: (wire) => ({
      ...wire,
      send: async (request, headers, signal) => {
        const answer = fault.answer(request);
        if (answer === undefined) return wire.send(request, headers, signal);
        if (answer instanceof Error) throw answer;
        if (answer !== 'hang') return answer;
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
        });
      },
    }),
  };
}

/** So only queries are answered of which the request has this text. */
export function ofQueries(answer: ReturnType<Answering>, text = ''): Answering {
  return ({ operation, body = '' }) =>
    operation === 'query' && body.includes(text) ? answer : undefined;
}

export function answered(body: unknown, status = 200, headers = {}): ApiResponse {
  return { status, headers, body: typeof body === 'string' ? body : JSON.stringify(body) };
}

/** A call to NerdGraph as the vendor got it. */
export interface Asked {
  readonly atMs: number;
  /** On the wall clock. */
  readonly wallMs: number;
  /** The NRQL; of a list of applications, what it searches for. */
  readonly text: string;
}

/** The lists of applications that were asked for. */
export function listsOf({ simulator }: RunningDaemon): readonly Asked[] {
  return asksOf(simulator, 'entity_search');
}

/** The NRQL with this text that was asked. */
export function nrqlOf({ simulator }: RunningDaemon, text: string): readonly Asked[] {
  return asksOf(simulator, 'nrql').filter((asked) => asked.text.includes(text));
}

function asksOf(simulator: RunningDaemon['simulator'], kind: string): readonly Asked[] {
  return simulator.journal
    .entries()
    .flatMap(({ monotonicMs, wallMs, graphql }) =>
      (graphql?.asks ?? [])
        .filter(({ operation }) => operation === kind)
        .map(({ text }) => ({ atMs: monotonicMs, wallMs, text })),
    );
}

/** What is known of a query of the first account. */
export function queryStatus({ daemon }: RunningDaemon, name: string): QueryStatus | undefined {
  return daemon.status()[0]?.queries?.find((one) => one.name === name);
}

/** @param problem what is wrong with the file that was read last */
export function statusSourceOf(
  { daemon, platform }: RunningDaemon,
  problem?: string,
  brokenFile?: ReloadStatus['brokenFiles'][number],
): StatusSource {
  const reload = {
    configFile: 'c.yaml',
    includedFiles: [],
    brokenFiles: brokenFile === undefined ? [] : [brokenFile],
    inForceSinceMs: 0,
    lastAttemptMs: 0,
    problem,
  };
  return createStatusSource(daemon, () => reload, platform);
}
