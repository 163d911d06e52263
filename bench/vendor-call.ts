/**
 * P9: CPU per vendor call at saturation over HTTPS: the whole path (pace, limit, retry, measure,
 * parse) against global fetch and JSON.parse alone. The server is a process of its own, so that only
 * the client's CPU counts; the two clients take turns.
 */
import { execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { show, spreadOf } from './median.ts';

interface Round {
  readonly cpuUsPerCall: number;
  readonly callsPerSecond: number;
}

const rounds = 7;
const callsPerRound = 8000;
const goal = 1 / 3;
const certificate = fileURLToPath(
  new URL('../../test/transport/fixtures/test-only-certificate.pem', import.meta.url),
);

const server = fork(fileURLToPath(new URL('vendor-call-server.js', import.meta.url)));
const [port] = (await once(server, 'message')) as [number];
const client = fileURLToPath(new URL('vendor-call-client.js', import.meta.url));

async function round(who: 'ours' | 'global-fetch'): Promise<Round> {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [client, who, `https://localhost:${port}`, `${callsPerRound}`],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: certificate } },
  );
  return JSON.parse(stdout) as Round;
}

const ours: Round[] = [];
const peer: Round[] = [];
for (let index = 0; index < rounds; index += 1) {
  ours.push(await round('ours'));
  peer.push(await round('global-fetch'));
}
server.kill();

const ratios = ours.map((one, index) => one.cpuUsPerCall / (peer[index]?.cpuUsPerCall ?? 0));
const ratio = spreadOf(ratios);
const cpu = (all: readonly Round[]): string => show(spreadOf(all.map((one) => one.cpuUsPerCall)));
const rate = (all: readonly Round[]): string =>
  show(spreadOf(all.map((one) => one.callsPerSecond)), 0);
process.stdout.write(
  [
    `vendor-call: ${rounds} rounds of ${callsPerRound} calls over HTTPS, 8 in flight; median (min to max)`,
    `  whole path      ${cpu(ours)} us CPU a call, ${rate(ours)} calls/s`,
    `  global fetch    ${cpu(peer)} us CPU a call, ${rate(peer)} calls/s`,
    `  P9 ratio of CPU ${show(ratio, 3)}, goal <= ${goal.toFixed(3)}: ${ratio.median <= goal ? 'reached' : 'MISSED'}`,
    '',
  ].join('\n'),
);
