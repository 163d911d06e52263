import { run } from '../../src/cli/run.ts';
import { createSimulator } from '../../src/simulator/simulator.ts';
import { createFakePlatform } from '../support/fake-platform.ts';
import { inMemoryTransport } from '../support/in-memory-vendor.ts';
import { shellWordsIn } from './command-rule.ts';
import { codeBlocksIn } from './markdown.ts';

/** A command that a document shows together with what it prints. */
export interface ShownRun {
  readonly command: string;
  readonly output: string;
}

/** The blocks of a document that begin with a command of the exporter and go on with its output. */
export function shownRunsIn(text: string): readonly ShownRun[] {
  return codeBlocksIn(text).flatMap(({ text: block }) => {
    const [first = '', ...rest] = block.split('\n');
    const command = /^\$ (?<command>newrelic-exporter .*)$/u.exec(first)?.groups?.['command'];
    return command === undefined ? [] : [{ command, output: rest.join('\n') }];
  });
}

const key = `NRAK-${'A'.repeat(27)}`;

/** What a command prints on standard output in the example of docs/commands.md. */
export async function outputOf(command: string, config: string): Promise<string> {
  const [line = '', filter] = command.split(' | grep ');
  const platform = createFakePlatform({
    files: { 'config.yaml': config, '/etc/newrelic-exporter/newrelic.key': `${key}\n` },
    openTransport: async () => inMemoryTransport(simulator),
  });
  platform.clock.jumpWall(Date.parse('2026-11-21T10:00:30Z') - platform.clock.wallMs());
  const simulator = createSimulator(
    {
      apiKeys: [key],
      fleet: {
        applications: [
          { id: 31_584_797, name: 'shop', kind: 'both', language: 'ruby', hosts: 2 },
          { id: 31_584_812, name: 'Checkout', kind: 'web', language: 'java', hosts: 1 },
          { id: 31_584_913, name: 'old', kind: 'not_reporting', language: 'go' },
        ],
      },
    },
    { clock: platform.clock },
  );
  const state = { hasEnded: false };
  const ending = run(shellWordsIn(line).slice(1), platform).finally(() => {
    state.hasEnded = true;
  });
  while (!state.hasEnded) await platform.clock.advance(1000);
  await ending;
  const output = platform.stdout.text();
  if (filter === undefined) return output;
  const lines = output.split('\n').filter((one) => new RegExp(filter, 'u').test(one));
  return lines.map((one) => `${one}\n`).join('');
}
