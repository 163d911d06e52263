import { describe, expect, it } from 'vitest';
import { type Arguments, parseArguments } from '../../src/cli/arguments.ts';

function messageOf(result: Arguments): string {
  return result.kind === 'error' ? result.message : `no error but ${result.kind}`;
}

describe('the words help and version', () => {
  it.each([
    { argv: ['help'], expected: { kind: 'help', command: undefined } },
    { argv: ['help', 'plan'], expected: { kind: 'help', command: 'plan' } },
    { argv: ['version'], expected: { kind: 'version' } },
  ])('do what the flags do: $argv', ({ argv, expected }) => {
    expect(parseArguments(argv, {})).toEqual(expected);
  });

  it.each([
    { argv: ['help', 'paln'], message: 'unknown command "paln": did you mean "plan"?' },
    { argv: ['verison'], message: 'unknown command "verison": did you mean "version"?' },
  ])('are suggested: $argv', ({ argv, message }) => {
    expect(messageOf(parseArguments(argv, {}))).toBe(message);
  });
});

const some = 'fail-app=Checkout,missing-app=Checkout (staging),429-every=3m';

describe('a flag with an alias, which needs no value', () => {
  it.each([
    { argv: ['demo', '--faults'], flags: { demoFaults: some, simulateFaults: '' } },
    { argv: ['--faults', 'demo'], flags: { demoFaults: some } },
    { argv: ['demo', '--demo.faults'], flags: { demoFaults: some } },
    { argv: ['simulate', '--faults'], flags: { demoFaults: '', simulateFaults: some } },
    {
      argv: ['simulate', '--faults=slow=5s'],
      flags: { simulateFaults: 'slow=5s' },
    },
    {
      argv: ['simulate', '--simulate.faults=wrong-key'],
      flags: { simulateFaults: 'wrong-key' },
    },
    { argv: ['simulate', '--faults='], flags: { simulateFaults: '' } },
  ])('is read in $argv', ({ argv, flags }) => {
    expect(parseArguments(argv, {})).toMatchObject({ kind: 'run', flags });
  });

  it('may come from the variable of its name', () => {
    const env = { NEWRELIC_EXPORTER_DEMO_FAULTS: 'slow=1s, reset=10%' };

    expect(parseArguments(['demo'], env)).toMatchObject({
      flags: { demoFaults: 'slow=1s, reset=10%' },
    });
  });

  it.each([
    { argv: ['--faults'], message: '--demo.faults has no meaning for serve, only for: demo' },
    {
      argv: ['demo', '--faults', '--demo.faults=slow=1s'],
      message: '--faults is given 2 times',
    },
    { argv: ['demo', '--fautls'], message: 'unknown flag "--fautls": did you mean "--faults"?' },
    { argv: ['demo', '--faults', 'slow=5s'], message: 'demo: unexpected argument "slow=5s"' },
  ])('is refused in $argv', ({ argv, message }) => {
    expect(messageOf(parseArguments(argv, {}))).toBe(message);
  });
});

describe('a command about an application', () => {
  it.each(['11', 'Checkout: EU / "blue"', 'my.yaml'])('takes its id or its name: %s', (name) => {
    expect(parseArguments(['metrics', name, '--config.file=c.yaml'], {})).toMatchObject({
      kind: 'run',
      command: 'metrics',
      operands: [name],
      flags: { configFile: 'c.yaml', account: '', host: '', like: '' },
    });
  });

  it.each([
    {
      argv: ['metrics'],
      message:
        'metrics needs an APP: the id of an application, or its name exactly as New Relic shows it',
    },
    {
      argv: ['metrics', ''],
      message:
        'metrics needs an APP: the id of an application, or its name exactly as New Relic shows it',
    },
    { argv: ['metrics', 'my', 'shop'], message: 'metrics: unexpected argument "shop"' },
    {
      argv: ['metrics', 'shop', '--like=a\nb'],
      message:
        '--like: "a\\nb" is not valid: expected a part of the name of a metric, such as Datastore',
    },
    {
      argv: ['discover', '--like=x'],
      message: '--like has no meaning for discover, only for: metrics',
    },
  ])('refuses $argv', ({ argv, message }) => {
    expect(messageOf(parseArguments(argv, {}))).toBe(message);
  });
});

describe('a password in the address to ask', () => {
  it('is refused, and not repeated', () => {
    const parsed = parseArguments(['healthcheck', '--url=https://ada:s3cr3t@localhost:9126/'], {});

    expect(parsed).toMatchObject({
      kind: 'error',
      message: expect.stringContaining('"https://[redacted]@localhost:9126/" is not valid'),
    });
    expect(JSON.stringify(parsed)).not.toContain('s3cr3t');
  });
});
