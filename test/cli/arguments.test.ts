import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Arguments, parseArguments } from '../../src/cli/arguments.ts';
import { type Flags, flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf } from '../../src/cli/flags.ts';
import { simulateDefaults } from '../demo/simulate-defaults.ts';

const defaults: Flags = {
  configFile: 'config.yaml',
  autoReloadIntervalMs: 30_000,
  configWait: false,
  respawn: false,
  enableLifecycle: false,
  listenAddresses: [':9126'],
  webConfigFile: '',
  telemetryPath: '/metrics',
  maxRequests: 40,
  shardAddress: '',
  logLevel: 'info',
  logFormat: 'auto',
  account: '',
  host: '',
  like: '',
  online: false,
  output: 'text',
  all: false,
  planApplicationsPerMatch: 10,
  planHostsPerApplication: 10,
  ...simulateDefaults,
  shard: 'auto',
  hostName: '',
  replicas: 1,
  totalShards: 1,
  healthcheckUrl: 'http://127.0.0.1:9126/-/healthy',
  clientCertFile: '',
  clientKeyFile: '',
};

function messageOf(result: Arguments): string {
  return result.kind === 'error' ? result.message : `no error but ${result.kind}`;
}

describe('the command', () => {
  it('is serve with every default when nothing is said', () => {
    expect(parseArguments([], {})).toEqual({
      kind: 'run',
      command: 'serve',
      flags: defaults,
      operands: [],
    });
  });

  it.each([
    { argv: ['serve'], command: 'serve' },
    { argv: ['once', '--log.level=debug'], command: 'once' },
    { argv: ['--log.level=debug', 'demo'], command: 'demo' },
    { argv: ['config-schema'], command: 'config-schema' },
    { argv: ['check-config'], command: 'check-config' },
  ])('of $argv is $command', ({ argv, command }) => {
    expect(parseArguments(argv, {})).toMatchObject({ kind: 'run', command });
  });

  it.each([
    { argv: ['check-config', 'a.yaml'] },
    { argv: ['check-config', '--', 'a.yaml'] },
    { argv: ['plan', '--online', 'a.yaml'] },
    { argv: ['discover', 'a.yaml'] },
    { argv: ['compare', '--all', 'a.yaml'] },
  ])('$argv takes that file', ({ argv }) => {
    expect(parseArguments(argv, {})).toMatchObject({
      kind: 'run',
      flags: { configFile: 'a.yaml' },
      operands: ['a.yaml'],
    });
  });
});

describe('help and version', () => {
  it.each([
    { argv: ['--help'], expected: { kind: 'help', command: undefined } },
    { argv: ['-h'], expected: { kind: 'help', command: undefined } },
    { argv: ['demo', '--help'], expected: { kind: 'help', command: 'demo' } },
    { argv: ['--help', 'once'], expected: { kind: 'help', command: 'once' } },
    { argv: ['--wrong', '--help'], expected: { kind: 'help', command: undefined } },
    { argv: ['--version'], expected: { kind: 'version' } },
    { argv: ['serve', '--version', '--wrong'], expected: { kind: 'version' } },
  ])('are found in $argv, whatever else is wrong', ({ argv, expected }) => {
    expect(parseArguments(argv, {})).toEqual(expected);
  });
});

describe('a flag', () => {
  it.each([
    { argv: ['--config.file=/etc/a.yaml'], flags: { configFile: '/etc/a.yaml' } },
    { argv: ['--config.file', '/etc/a.yaml'], flags: { configFile: '/etc/a.yaml' } },
    { argv: ['--web.listen-address=[::1]:0'], flags: { listenAddresses: ['[::1]:0'] } },
    {
      argv: ['--web.listen-address=:1', '--web.listen-address=localhost:2'],
      flags: { listenAddresses: [':1', 'localhost:2'] },
    },
    { argv: ['--web.telemetry-path=/a/metrics'], flags: { telemetryPath: '/a/metrics' } },
    { argv: ['--web.max-requests=1'], flags: { maxRequests: 1 } },
    { argv: ['--log.level=error'], flags: { logLevel: 'error' } },
    { argv: ['--log.level=WARN'], flags: { logLevel: 'warn' } },
    { argv: ['--log.format=logfmt'], flags: { logFormat: 'logfmt' } },
    { argv: ['demo', '--demo.applications=3'], flags: { demoApplications: 3 } },
    { argv: ['demo', '--demo.hosts=0'], flags: { demoHosts: 0 } },
    { argv: ['demo', '--demo.source=nerdgraph'], flags: { demoSource: 'nerdgraph' } },
    { argv: ['demo', '--demo.port=8080'], flags: { demoPort: 8080 } },
    { argv: ['plan', '--online'], flags: { online: true } },
    { argv: ['check-config', '--online', 'config.yaml'], flags: { online: true } },
    { argv: ['plan', '-o', 'json'], flags: { output: 'json' } },
    { argv: ['plan', '-ojson'], flags: { output: 'json' } },
    { argv: ['discover', '--output=yaml'], flags: { output: 'yaml' } },
    { argv: ['plan', '--plan.hosts-per-app=0'], flags: { planHostsPerApplication: 0 } },
    { argv: ['plan', '--plan.apps-per-match=3'], flags: { planApplicationsPerMatch: 3 } },
  ])('$argv sets $flags and nothing else', ({ argv, flags }) => {
    expect(parseArguments(argv, {})).toMatchObject({
      kind: 'run',
      flags: { ...defaults, ...flags },
    });
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
    { name: 'NEWRELIC_EXPORTER_WEB_MAX_REQUESTS', value: '7', flags: { maxRequests: 7 } },
    { name: 'NEWRELIC_EXPORTER_LOG_LEVEL', value: 'warn', flags: { logLevel: 'warn' } },
    { name: 'NEWRELIC_EXPORTER_LOG_LEVEL', value: '', flags: { logLevel: 'info' } },
    { name: 'NEWRELIC_EXPORTER_DEMO_PORT', value: '', flags: { demoPort: 0 } },
  ])('$name=$value gives $flags', ({ name, value, flags }) => {
    expect(parseArguments([], { [name]: value })).toMatchObject({ kind: 'run', flags });
  });

  it('gives way to the flag', () => {
    const env = {
      NEWRELIC_EXPORTER_LOG_LEVEL: 'warn',
      NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ':1,:2',
    };

    const result = parseArguments(['--log.level=error', '--web.listen-address=:3'], env);

    expect(result).toMatchObject({ flags: { logLevel: 'error', listenAddresses: [':3'] } });
  });

  it('is not looked at when the flag has no meaning for the command', () => {
    const env = { NEWRELIC_EXPORTER_DEMO_APPLICATIONS: 'many' };

    expect(parseArguments(['serve'], env)).toMatchObject({ kind: 'run' });
    expect(messageOf(parseArguments(['demo'], env))).toContain(
      'NEWRELIC_EXPORTER_DEMO_APPLICATIONS: "many" is not valid',
    );
  });

  it('is not taken from what Kubernetes sets for a service of a similar name', () => {
    const env = {
      NEWRELIC_EXPORTER_DEMO_PORT: 'tcp://10.0.0.1:9126',
      NEWRELIC_EXPORTER_PORT_9126_TCP: 'tcp://10.0.0.2:9126',
      NEWRELIC_EXPORTER_SERVICE_HOST: '10.0.0.2',
    };

    expect(parseArguments(['demo'], env)).toMatchObject({ kind: 'run', flags: { demoPort: 0 } });
  });
});

describe('a usage error', () => {
  it.each([
    {
      argv: ['--log.levle=info'],
      message: 'unknown flag "--log.levle": did you mean "--log.level"?',
    },
    {
      argv: ['-config.file=a.yaml'],
      message: 'unknown flag "-config.file": did you mean "--config.file"?',
    },
    {
      argv: ['--zzzzzzzzzz', 'demo'],
      message: 'unknown flag "--zzzzzzzzzz": newrelic-exporter --help lists what there is',
    },
    {
      argv: ['plan', '-o', 'xml'],
      message: '--output: "xml" is not valid: expected text, json or yaml',
    },
    { argv: ['plan', '-o'], message: '-o needs a value: --output=text' },
    { argv: ['plan', 'a', 'b'], message: 'plan: unexpected argument "b"' },
    { argv: ['-x'], message: 'unknown flag "-x": newrelic-exporter --help lists what there is' },
    { argv: ['demmo'], message: 'unknown command "demmo": did you mean "demo"?' },
    {
      argv: ['my.yaml'],
      message: 'unknown command "my.yaml": for a configuration file write --config.file=FILE',
    },
    { argv: ['demo', 'x'], message: 'demo: unexpected argument "x"' },
    { argv: ['check-config', 'a', 'b'], message: 'check-config: unexpected argument "b"' },
    {
      argv: ['check-config', 'a', '--config.file=b'],
      message: 'check-config: give the file either as FILE or as --config.file, not both',
    },
    {
      argv: ['--demo.hosts=3'],
      message: '--demo.hosts has no meaning for serve, only for: demo',
    },
    {
      argv: ['config-schema', '--config.file=x'],
      message:
        '--config.file has no meaning for config-schema, only for: serve, check-config, plan, discover, metrics, compare, once',
    },
    {
      argv: ['--config.file'],
      message: '--config.file needs a value: --config.file=config.yaml',
    },
    {
      argv: ['--config.file', '--log.level=info'],
      message:
        '--config.file needs a value; if "--log.level=info" is meant to be it, write --config.file=VALUE',
    },
    {
      argv: ['--log.level=info', '--log.level=warn'],
      message: '--log.level is given 2 times',
    },
    {
      argv: ['--config.file='],
      message: '--config.file: "" is not valid: expected the path of a file',
    },
    {
      argv: ['--log.level=LOUD'],
      message: '--log.level: "LOUD" is not valid: expected debug, info, warn or error',
    },
    {
      argv: ['--log.format=xml'],
      message: '--log.format: "xml" is not valid: expected auto, json, pretty or logfmt',
    },
    {
      argv: ['--web.max-requests=0'],
      message: '--web.max-requests: "0" is not valid: expected a whole number from 1 to 10000',
    },
    {
      argv: ['demo', '--demo.port=65536'],
      message: '--demo.port: "65536" is not valid: expected a whole number from 0 to 65535',
    },
    {
      argv: ['demo', '--demo.applications=1e3'],
      message: '--demo.applications: "1e3" is not valid: expected a whole number from 1 to 10000',
    },
    {
      argv: ['--web.listen-address=:9126', '--web.listen-address=:9126'],
      message: '--web.listen-address: ":9126" is given more than once',
    },
    {
      argv: ['--web.listen-address=9126'],
      message:
        '--web.listen-address: "9126" is not valid: expected [host]:port, such as :9126, 127.0.0.1:9126 or [::1]:9126',
    },
  ])('of $argv says: $message', ({ argv, message }) => {
    expect(parseArguments(argv, {})).toEqual({ kind: 'error', message });
  });

  it.each([
    { value: ':1,:2,' },
    { value: ':1, ' },
    { value: ',:1' },
    { value: ':1,,:2' },
    { value: ',' },
  ])('is a comma too many in a list such as "$value"', ({ value }) => {
    const env = { NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: value };

    expect(messageOf(parseArguments([], env))).toBe(
      `NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: "${value}" has a comma with no value beside it: remove the comma`,
    );
  });

  it('is an address that a list names twice', () => {
    const env = { NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ':1, :2, :1' };

    expect(messageOf(parseArguments([], env))).toBe(
      'NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ":1" is given more than once',
    );
  });

  it('lets the system choose several free ports', () => {
    const argv = ['--web.listen-address=:0', '--web.listen-address=:0'];

    expect(parseArguments(argv, {})).toMatchObject({ flags: { listenAddresses: [':0', ':0'] } });
  });

  it('names the environment variable that a bad value came from', () => {
    const env = { NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: ':1,2' };

    expect(messageOf(parseArguments([], env))).toMatch(
      /^NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS: "2" is not valid: expected \[host\]:port/,
    );
  });

  it.each([
    { path: 'metrics' },
    { path: '/' },
    { path: '/metrics/' },
    { path: '//metrics' },
    { path: '/a/../metrics' },
    { path: '/metrics?x' },
    { path: '/me trics' },
    { path: '/-/healthy' },
    { path: '/-/metrics' },
    { path: '/api/v1/targets' },
    { path: '/config' },
    { path: '/config/x' },
    { path: '/applications' },
    { path: '/status.js' },
  ])('is a telemetry path of $path', ({ path }) => {
    expect(messageOf(parseArguments([`--web.telemetry-path=${path}`], {}))).toMatch(
      /^--web.telemetry-path: .* is not valid: expected a path such as \/metrics/,
    );
  });
});

describe('an API key', () => {
  const key = 'NRAK-0123456789ABCDEFGHIJKLMNOPQ';

  it.each([
    { argv: ['--api-key=secret-value'] },
    { argv: ['--api-key', 'secret-value'] },
    { argv: ['--apikey=secret-value'] },
    { argv: ['-api_key=secret-value'] },
    { argv: ['--api-key-file=secret-value'] },
    { argv: ['--newrelic.api-key=secret-value'] },
    { argv: ['--license-key=secret-value', '--help'] },
    { argv: [key] },
    { argv: ['--help', key] },
    { argv: [`--config.file=${key}`] },
    { argv: ['--config.file', key.toLowerCase()] },
    { argv: [`--${key}`] },
  ])('is refused in $argv without being repeated', ({ argv }) => {
    const message = messageOf(parseArguments(argv, {}));

    expect(message).toMatch(/^an API key is not taken from the command line/);
    expect(message).toContain('api_key_file');
    expect(message).toContain('NEW_RELIC_API_KEY');
    expect(message).not.toContain('secret-value');
    expect(message.toUpperCase()).not.toContain(key);
  });

  it('in an environment variable for something else is not repeated', () => {
    const message = messageOf(parseArguments([], { NEWRELIC_EXPORTER_LOG_LEVEL: key }));

    expect(message).toContain('NEWRELIC_EXPORTER_LOG_LEVEL: "[redacted]" is not valid');
  });

  it('of any kind is never repeated, wherever it stands', () => {
    const words = fc.constantFrom(
      '',
      ' ',
      '=',
      '-',
      '--',
      ',',
      'serve',
      '--config.file=',
      '--log.level=',
      '--x=',
    );

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
    const names = Object.values(flagTable).map(({ name }) => `--${name}`);
    const word = fc.oneof(
      fc.string(),
      fc.constantFrom(...names, '-h', '--', '-', '--=', 'demo', '--__proto__=x'),
      fc.tuple(fc.constantFrom(...names), fc.string()).map(([name, value]) => `${name}=${value}`),
    );
    const variables = fc.dictionary(
      fc.constantFrom(...Object.values(flagTable).map(environmentVariableOf)),
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
