import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arguments, parseArguments } from '../../src/cli/arguments.ts';
import { commands } from '../../src/cli/commands.ts';
import { flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf, isFor } from '../../src/cli/flags.ts';

const flags = Object.values(flagTable);

function messageOf(result: Arguments): string {
  return result.kind === 'error' ? result.message : `no error but ${result.kind}`;
}

describe('the command', () => {
  it.each([
    { argv: [], command: 'serve' },
    { argv: ['--log.level=debug'], command: 'serve' },
    { argv: ['serve'], command: 'serve' },
    { argv: ['once', '--log.level=debug'], command: 'once' },
    { argv: ['--log.level=debug', 'demo'], command: 'demo' },
    { argv: ['--online', 'plan', 'a.yaml'], command: 'plan' },
    { argv: ['--config.file', 'demo', 'once'], command: 'once' },
    { argv: ['config-schema'], command: 'config-schema' },
  ])('of $argv is $command', ({ argv, command }) => {
    expect(parseArguments(argv, {})).toMatchObject({ kind: 'run', command });
  });

  it.each([
    { argv: ['check-config', 'a.yaml'] },
    { argv: ['check-config', '--', 'a.yaml'] },
    { argv: ['plan', '--online', 'a.yaml'] },
    { argv: ['plan', 'a.yaml', '-o', 'json'] },
  ])('$argv takes that file', ({ argv }) => {
    expect(parseArguments(argv, {})).toMatchObject({ flags: { configFile: 'a.yaml' } });
  });

  it.each(['11', 'Checkout: EU / "blue"', 'my.yaml'])(
    'metrics takes an application: %s',
    (name) => {
      expect(parseArguments(['metrics', name, '--config.file=c.yaml'], {})).toMatchObject({
        operand: name,
        flags: { configFile: 'c.yaml', account: '', host: '', like: '' },
      });
    },
  );
});

describe('help and version', () => {
  it.each([
    { argv: ['--help'], usage: '[options] [command]' },
    { argv: ['-h'], usage: '[options] [command]' },
    { argv: ['help'], usage: '[options] [command]' },
    { argv: ['--wrong', '--help'], usage: '[options] [command]' },
    { argv: ['demo', '--help'], usage: 'demo [options]' },
    { argv: ['--help', 'once'], usage: 'once [options]' },
    { argv: ['help', 'plan'], usage: 'plan [options] [FILE]' },
    { argv: ['metrics', '-h'], usage: 'metrics [options] <APP>' },
  ])('help is found in $argv, whatever else is wrong', ({ argv, usage }) => {
    expect(parseArguments(argv, {})).toMatchObject({
      kind: 'help',
      text: expect.stringContaining(`Usage: newrelic-exporter ${usage}\n`),
    });
  });

  it.each([
    { argv: ['--version'] },
    { argv: ['-v'] },
    { argv: ['version'] },
    { argv: ['serve', '--version'] },
  ])('version is found in $argv', ({ argv }) => {
    expect(parseArguments(argv, {})).toEqual({ kind: 'version' });
  });

  it.each(commands.map((command) => ({ command })))(
    'the help of $command shows its flags, with default and variable, and no others',
    ({ command }) => {
      const parsed = parseArguments([command, '--help'], {});
      const text = parsed.kind === 'help' ? parsed.text : '';
      const words = text.replaceAll(/\s+/g, ' ');

      const shown = [...text.matchAll(/^ {2}.*--([a-z.-]+) [<[]value/gm)].map(([, name]) => name);
      const own = flags.filter((flag) => isFor(flag, command));
      expect(shown).toEqual(own.map(({ name }) => name));
      for (const flag of own) {
        const value = flag.defaultText === '' ? 'none' : flag.defaultText;
        const variable = environmentVariableOf(flag);
        expect(words).toContain(
          `${variable === undefined ? '' : `($${variable}) `}(default: ${value})`,
        );
      }
      expect(text.split('\n').filter((line) => line.length > 100)).toEqual([]);
      expect(text).toMatch(/Exit codes: .*never from a flag\.\n$/s);
    },
  );

  it.each([
    { command: 'plan', says: ['text or json.'], others: ['or yaml'] },
    { command: 'discover', says: ['text, json or yaml.'], others: ['metrics'] },
    {
      command: 'metrics',
      says: ['text or yaml.', 'all values of each'],
      others: ['json', 'compared'],
    },
    {
      command: 'compare',
      says: ['value that was compared'],
      others: ['of each metric', 'exporter itself'],
    },
    {
      command: 'once',
      says: ['metrics of the exporter itself'],
      others: ['compared', 'each metric'],
    },
  ])('the help of $command says of flags what they do there', ({ command, says, others }) => {
    const parsed = parseArguments([command, '--help'], {});
    const text = parsed.kind === 'help' ? parsed.text.replaceAll(/\s+/gu, ' ') : '';

    expect(says.filter((part) => !text.includes(part))).toEqual([]);
    expect(others.filter((part) => text.includes(part))).toEqual([]);
  });

  it.each(flags)('the help says something of --$name in each command that has it', (flag) => {
    const { help } = flag;

    const without = commands.filter(
      (command) => isFor(flag, command) && typeof help !== 'string' && help[command] === undefined,
    );

    expect(without).toEqual([]);
  });

  it('the help of the program names every command', () => {
    const parsed = parseArguments(['--help'], {});
    const listed = [...(parsed.kind === 'help' ? parsed.text : '').matchAll(/^ {2}([a-z-]+) /gm)];

    expect(listed.map(([, command]) => command)).toEqual(expect.arrayContaining([...commands]));
  });
});

describe('a flag', () => {
  const some = 'fail-app=Checkout,missing-app=Checkout (staging),429-every=3m';

  it.each([
    { argv: ['--config.file=/etc/a.yaml'], flags: { configFile: '/etc/a.yaml' } },
    { argv: ['--config.file', '/etc/a.yaml'], flags: { configFile: '/etc/a.yaml' } },
    { argv: ['--config.auto-reload-interval=0'], flags: { autoReloadIntervalMs: 0 } },
    { argv: ['--config.auto-reload-interval=2m'], flags: { autoReloadIntervalMs: 120_000 } },
    {
      argv: ['--web.listen-address=:1', '--web.listen-address=localhost:2'],
      flags: { listenAddresses: [':1', 'localhost:2'] },
    },
    {
      argv: ['--web.listen-address=:0', '--web.listen-address=:0'],
      flags: { listenAddresses: [':0', ':0'] },
    },
    { argv: ['--web.telemetry-path=/a/metrics'], flags: { telemetryPath: '/a/metrics' } },
    { argv: ['--respawn'], flags: { respawn: true, configWait: false } },
    { argv: ['--respawn=false', '--config.wait'], flags: { respawn: false, configWait: true } },
    { argv: ['--shard=3'], flags: { shard: 3 } },
    { argv: ['--log.level=WARN'], flags: { logLevel: 'warn', logFormat: 'auto' } },
    { argv: ['demo', '--demo.hosts=0'], flags: { demoHosts: 0, simulateHosts: 48 } },
    { argv: ['plan', '-o', 'json'], flags: { output: 'json' } },
    { argv: ['plan', '-ojson'], flags: { output: 'json' } },
    { argv: ['simulate', '--simulate.latency=1s'], flags: { simulateLatencyMs: 1000 } },
    { argv: ['demo', '--faults'], flags: { demoFaults: some, simulateFaults: '' } },
    { argv: ['--faults', 'demo'], flags: { demoFaults: some } },
    { argv: ['simulate', '--faults=slow=5s'], flags: { simulateFaults: 'slow=5s' } },
    { argv: ['simulate', '--simulate.faults=wrong-key'], flags: { simulateFaults: 'wrong-key' } },
  ])('$argv sets $flags', ({ argv, flags: expected }) => {
    expect(parseArguments(argv, {})).toMatchObject({ kind: 'run', flags: expected });
  });

  it.each(flags.map((flag) => ({ name: flag.name, flag })))(
    'has a default that it accepts: --$name',
    ({ flag }) => {
      expect(flag.parse(flag.defaultText)).toBeDefined();
    },
  );

  it.each([
    { path: 'metrics' },
    { path: '/' },
    { path: '/metrics/' },
    { path: '/a/../metrics' },
    { path: '/metrics?x' },
    { path: '/-/healthy' },
    { path: '/api/v1/targets' },
    { path: '/config/x' },
    { path: '/applications' },
    { path: '/status.js' },
  ])('does not put the metrics on $path', ({ path }) => {
    expect(messageOf(parseArguments([`--web.telemetry-path=${path}`], {}))).toMatch(
      /^--web.telemetry-path: .* is not valid: expected a path such as \/metrics/,
    );
  });
});

describe('an environment variable', () => {
  it.each([
    { name: 'NEWRELIC_EXPORTER_CONFIG_FILE', value: 'b.yaml', flags: { configFile: 'b.yaml' } },
    {
      name: 'NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS',
      value: ':1, [::1]:2',
      flags: { listenAddresses: [':1', '[::1]:2'] },
    },
    { name: 'NEWRELIC_EXPORTER_WEB_MAX_REQUESTS', value: ' 7 ', flags: { maxRequests: 7 } },
    { name: 'NEWRELIC_EXPORTER_LOG_LEVEL', value: '', flags: { logLevel: 'info' } },
    // Of another command.
    { name: 'NEWRELIC_EXPORTER_DEMO_APPLICATIONS', value: 'many', flags: { demoApplications: 12 } },
  ])('$name=$value gives $flags', ({ name, value, flags: expected }) => {
    expect(parseArguments([], { [name]: value })).toMatchObject({ kind: 'run', flags: expected });
  });

  it('gives way to the flag, and the default to both', () => {
    const env = {
      NEWRELIC_EXPORTER_LOG_LEVEL: 'warn',
      NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ':1,:2',
    };
    const parsed = parseArguments(['--web.listen-address=:3'], env);

    expect(parsed).toMatchObject({ flags: { logLevel: 'warn', listenAddresses: [':3'] } });
    expect(parsed).toMatchObject({
      settings: expect.arrayContaining([
        { flag: flagTable.listenAddresses, texts: [':3'], origin: 'flag' },
        { flag: flagTable.logLevel, texts: ['warn'], origin: 'environment' },
        { flag: flagTable.maxRequests, texts: ['40'], origin: 'default' },
      ]),
    });
  });

  it('is not taken from what Kubernetes sets for a service of a similar name', () => {
    const env = { NEWRELIC_EXPORTER_DEMO_PORT: 'tcp://10.0.0.1:9126' };

    expect(parseArguments(['demo'], env)).toMatchObject({ kind: 'run', flags: { demoPort: 0 } });
  });

  it.each([
    { argv: ['demo'], name: 'DEMO_APPLICATIONS', value: 'many', says: ': "many" is not valid' },
    {
      argv: [],
      name: 'WEB_LISTEN_ADDRESS',
      value: ':1,2',
      says: ': "2" is not valid: expected [h',
    },
    { argv: [], name: 'WEB_LISTEN_ADDRESS', value: ':1,', says: ': "" is not valid' },
    {
      argv: [],
      name: 'WEB_LISTEN_ADDRESS',
      value: ':1, :2, :1',
      says: ': ":1" is given more than',
    },
  ])('is named if its value is wrong: $name=$value', ({ argv, name, value, says }) => {
    const variable = `NEWRELIC_EXPORTER_${name}`;

    expect(messageOf(parseArguments(argv, { [variable]: value }))).toContain(`${variable}${says}`);
  });
});

describe('a usage error', () => {
  it.each([
    { argv: ['--log.levle=info'], says: 'unknown flag "--log.levle": did you mean "--log.level"?' },
    {
      argv: ['-config.file=a'],
      says: 'unknown flag "-config.file": did you mean "--config.file"?',
    },
    { argv: ['demo', '--fautls'], says: 'unknown flag "--fautls": did you mean "--faults"?' },
    { argv: ['--zzzzzz', 'demo'], says: 'unknown flag "--zzzzzz": newrelic-exporter demo --help' },
    { argv: ['-x'], says: 'unknown flag "-x"' },
    { argv: ['demmo'], says: "unknown command 'demmo' (Did you mean demo?)" },
    { argv: ['my.yaml'], says: 'for a configuration file write --config.file=FILE' },
    { argv: ['--demo.hosts=3'], says: '--demo.hosts has no meaning for serve, only for: demo' },
    { argv: ['plan', '-o', 'yaml'], says: 'plan: --output=yaml: expected text or json' },
    { argv: ['metrics', 'x', '-o', 'json'], says: 'metrics: --output=json: expected text or yaml' },
    { argv: ['--faults'], says: '--faults has no meaning for serve, only for: demo' },
    { argv: ['plan', 'a', 'b'], says: "too many arguments for 'plan'" },
    { argv: ['demo', 'x'], says: "too many arguments for 'demo'" },
    { argv: ['demo', '--faults', 'slow=5s'], says: "too many arguments for 'demo'" },
    { argv: ['metrics'], says: "missing required argument 'APP'" },
    { argv: ['plan', 'a', '--config.file=b'], says: 'plan: give the file as FILE or as --config' },
    { argv: ['--config.file'], says: "option '--config.file <value>' argument missing" },
    {
      argv: ['--config.file', '--log.level=info'],
      says: '--config.file needs a value; if "--log.level=info" is it, write --config.file=VALUE',
    },
    { argv: ['--log.level=info', '--log.level=warn'], says: '--log.level is given 2 times' },
    { argv: ['demo', '--faults', '--demo.faults=slow=1s'], says: '--demo.faults is given 2 times' },
    {
      argv: ['--web.listen-address=:9126', '--web.listen-address=:9126'],
      says: '--web.listen-address: ":9126" is given more than once',
    },
    {
      argv: ['--config.file='],
      says: '--config.file: "" is not valid: expected the path of a file',
    },
    ...[
      ['backfill', '--to='],
      ['backfill', '--app='],
      ['verify', '--output='],
      ['verify', '--account='],
      ['metrics', 'shop', '--host='],
      ['once', '--host-name='],
    ].map((argv) => ({ argv, says: ': "" is not valid: expected ' })),
    {
      argv: ['--log.level=LOUD'],
      says: '"LOUD" is not valid: expected debug, info, warn or error',
    },
    { argv: ['--web.max-requests=0'], says: 'expected a whole number from 1 to 10000' },
    { argv: ['demo', '--demo.port=65536'], says: 'expected a whole number from 0 to 65535' },
    { argv: ['demo', '--demo.applications=1e3'], says: '"1e3" is not valid' },
    { argv: ['--web.listen-address=9126'], says: 'expected [host]:port, such as :9126' },
    { argv: ['metrics', 'shop', '--like=a\nb'], says: '--like: "a\\nb" is not valid' },
  ])('of $argv says what is wrong', ({ argv, says }) => {
    const message = messageOf(parseArguments(argv, {}));

    expect(message).toContain(says);
    expect(message).not.toContain('\n');
  });
});

describe('a secret', () => {
  const key = 'NRAK-0123456789ABCDEFGHIJKLMNOPQ';

  it.each([
    { argv: ['--api-key=secret-value'] },
    { argv: ['--api-key', 'secret-value'] },
    { argv: ['-api_key=secret-value'] },
    { argv: ['--newrelic.api-key=secret-value'] },
    { argv: ['--license-key=secret-value', '--help'] },
    { argv: [key] },
    { argv: ['--help', key] },
    { argv: ['--config.file', key.toLowerCase()] },
    { argv: [`--${key}`] },
  ])('that is an API key is refused in $argv without being repeated', ({ argv }) => {
    const message = messageOf(parseArguments(argv, {}));

    expect(message).toMatch(/^an API key is not taken from the command line/);
    expect(message).toContain('api_key_file');
    expect(message).not.toContain('secret-value');
    expect(message.toUpperCase()).not.toContain(key);
  });

  it('in an environment variable for something else is not repeated', () => {
    const message = messageOf(parseArguments([], { NEWRELIC_EXPORTER_LOG_LEVEL: key }));

    expect(message).toContain('NEWRELIC_EXPORTER_LOG_LEVEL: "[redacted]" is not valid');
  });

  it('that is a password in an address is not repeated', () => {
    const parsed = parseArguments(['healthcheck', '--url=https://ada:s3cr3t@localhost:9126/'], {});

    expect(messageOf(parsed)).toContain('"https://[redacted]@localhost:9126/" is not valid');
    expect(JSON.stringify(parsed)).not.toContain('s3cr3t');
  });

  it('that is an API key is never repeated, wherever it stands', () => {
    const words = fc.constantFrom('', ' ', '=', '-', '--', ',', 'serve', '--config.file=', '--x=');

    fc.assert(
      fc.property(words, words, (before, after) => {
        const argv = [before, `${before}${key}${after}`, after];

        expect(JSON.stringify(parseArguments(argv, {}))).not.toMatch(
          /"message":".*NRAK-0123456789/,
        );
      }),
    );
  });
});

describe('parseArguments', () => {
  it('answers anything without throwing', () => {
    const names = flags.map(({ name }) => `--${name}`);
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(...names, ...commands, '-h', '--', '-', '--=', '--__proto__=x'),
      fc.tuple(fc.constantFrom(...names), fc.string()).map(([name, value]) => `${name}=${value}`),
    );
    const variables = fc.dictionary(
      fc.constantFrom(
        ...flags.map((flag) => environmentVariableOf(flag) ?? 'NEWRELIC_EXPORTER_LIKE'),
      ),
      fc.string(),
    );

    fc.assert(
      fc.property(fc.array(word, { maxLength: 5 }), variables, (argv, env) => {
        expect(['run', 'help', 'version', 'error']).toContain(parseArguments(argv, env).kind);
      }),
      { numRuns: 500 },
    );
  });
});
