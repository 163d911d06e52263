import { describe, expect, it } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.ts';

describe('help and version', () => {
  it.each([
    { argv: ['help'], parsed: { kind: 'help', command: undefined } },
    { argv: ['help', 'plan'], parsed: { kind: 'help', command: 'plan' } },
    { argv: ['plan', '-h'], parsed: { kind: 'help', command: 'plan' } },
    { argv: ['version'], parsed: { kind: 'version' } },
    { argv: ['-v'], parsed: { kind: 'version' } },
    {
      argv: ['help', 'paln'],
      parsed: { kind: 'error', message: 'unknown command "paln": did you mean "plan"?' },
    },
  ])('are asked for by $argv', ({ argv, parsed }) => {
    expect(parseArguments(argv, {})).toEqual(parsed);
  });
});

describe('several usage errors', () => {
  it('are all shown, each once and on a line of its own', () => {
    const env = { NEWRELIC_EXPORTER_SHARD: 'x', NEWRELIC_EXPORTER_RESPAWN: 'yes' };

    const parsed = parseArguments(
      ['once', 'a.yaml', '--log-level=debug', '--web.max-requests=0', '--total-shards=0'],
      env,
    );

    expect(parsed.kind === 'error' ? parsed.message.split('\n') : []).toEqual([
      'unknown flag "--log-level": did you mean "--log.level"?',
      'once: unexpected argument "a.yaml"',
      '--web.max-requests has no meaning for once, only for: serve, demo',
      '--web.max-requests: "0" is not valid: expected a whole number from 1 to 10000',
      'NEWRELIC_EXPORTER_SHARD: "x" is not valid: expected a whole number from 0 to 999, or auto',
      '--total-shards: "0" is not valid: expected a whole number from 1 to 1000',
    ]);
  });
});
