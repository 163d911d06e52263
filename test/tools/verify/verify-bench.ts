import { run } from '../../../src/cli/run.ts';
import type { ApiRequest, ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { createSimulator } from '../../../src/simulator/simulator.ts';
import { createFakePlatform } from '../../support/fake-platform.ts';
import { inMemoryTransport } from '../../support/in-memory-vendor.ts';

/** A request as New Relic gets it. */
export interface Sent {
  /** Path and query, percent-decoded; of NerdGraph the document and its variables. */
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it was sent. */
  readonly baseUrl: string;
}

/**
 * New Relic in which something is otherwise: another answer, or an error in place of one. Or `stop` stops the command
 * before there is one.
 */
export type Variant = (sent: Sent, answer: ApiResponse, stop: () => void) => ApiResponse;

export interface Verified {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly sent: readonly Sent[];
  readonly violations: number;
  /** The rows of the report: what was seen, by the id of the fact. */
  readonly seen: ReadonlyMap<string, { readonly verdict: string; readonly text: string }>;
}

export const twoApis = `
accounts: [{ name: one, account_id: 1234567, region: us, api_key_env: KEY }]
apps: [{ match: "." }]
`;

/** More than a page of applications, of which some are silent. */
export const manyApplications: FleetOptions = { applications: 230, hosts: 400 };

const someApplications: FleetOptions = { applications: 15, hosts: 40 };

function textOf({ target, body }: ApiRequest): string {
  return body === undefined ? decodeURIComponent(target) : body;
}

/** The rows of all tables of facts in a report. */
function rowsOf(report: string): Verified['seen'] {
  const rows = report.split('\n').map((line) => line.split(' | '));
  return new Map(
    rows
      .filter((cells) => cells.length === 5 && /holds|differs|cannot tell/u.test(cells[0] ?? ''))
      .map(([verdict = '', , text = '', , id = '']) => [
        id.replace(' |', ''),
        { verdict: verdict.replaceAll(/[|* ]+/gu, ' ').trim(), text },
      ]),
  );
}

/** Runs the command against a simulated account, of which some answers may be others. */
export async function verified({
  args = [],
  config = twoApis,
  fleet = someApplications,
  variant = (_, answer) => answer,
}: {
  readonly args?: readonly string[];
  readonly config?: string;
  readonly fleet?: FleetOptions;
  readonly variant?: Variant;
}): Promise<Verified> {
  const sent: Sent[] = [];
  const platform = createFakePlatform({
    env: { KEY: 'NRAK-GOOD' },
    files: { 'config.yaml': config },
    openTransport: async ({ baseUrl }) => {
      const transport = inMemoryTransport(simulator);
      return {
        close: async () => transport.close(),
        send: async (request, headers, signal) => {
          const one = { text: textOf(request), headers, baseUrl };
          sent.push(one);
          return variant(one, await transport.send(request, headers, signal), () =>
            platform.stop(),
          );
        },
      };
    },
  });
  const { clock } = platform;
  clock.jumpWall(Date.parse('2026-09-01T10:00:30Z') - clock.wallMs());
  const simulator = createSimulator({ apiKeys: ['NRAK-GOOD'], fleet }, { clock });
  const state = { hasEnded: false };
  const ending = run(['verify', ...args], platform).finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await clock.advance(1000);
  const stdout = platform.stdout.text();
  return {
    exitCode: await ending,
    stdout,
    stderr: platform.stderr.text(),
    sent,
    violations: simulator.violations(),
    seen: rowsOf(stdout),
  };
}
