import { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../src/model/api-error.ts';
import type { Logger } from '../../src/model/telemetry.ts';
import { createLogger, type LogFormat, type LogLevel } from '../../src/publish/logger.ts';
import { createRedactor, type Redactor } from '../../src/publish/redactor.ts';
import { settle } from '../support/fake-clock.ts';

const clock = { wallMs: () => Date.UTC(2026, 8, 1, 10, 0, 30, 250) };

interface LogCapture {
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly lines: readonly string[];
}

/** A logger and the lines that it wrote. */
async function captureLog({
  level = 'info',
  format = 'json',
  isTTY,
  env = {},
}: {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  readonly isTTY?: boolean | undefined;
  readonly env?: Readonly<Record<string, string>>;
} = {}): Promise<LogCapture> {
  const redactor = createRedactor();
  const lines: string[] = [];
  const stderr = { isTTY, write: (line: string) => lines.push(line), on: () => undefined };
  const options = { logLevel: level, logFormat: format };
  const log = await createLogger(options, { stderr, redactor, clock, env });
  return { log, redactor, lines };
}

describe('the level', () => {
  const levels = ['debug', 'info', 'warn', 'error'] as const;

  it.each(levels)('%s lets through itself and what is worse', async (level) => {
    const { log, lines } = await captureLog({ level });

    for (const each of levels) log[each]({}, each);

    expect(lines.map((line) => /"msg":"(\w+)"/.exec(line)?.[1])).toEqual(
      levels.slice(levels.indexOf(level)),
    );
    expect(log.isDebugging).toBe(level === 'debug');
  });
});

describe('the format', () => {
  const pretty = '2026-09-01T10:00:30.250Z INFO  started  port=9126\n';
  const json = '{"level":"info","time":"2026-09-01T10:00:30.250Z","port":9126,"msg":"started"}\n';
  const logfmt = 'level=info time=2026-09-01T10:00:30.250Z msg=started port=9126\n';

  const colored =
    '2026-09-01T10:00:30.250Z \u001B[32mINFO \u001B[0m \u001B[1mstarted\u001B[0m  port=9126\n';

  it.each([
    { format: 'auto', isTTY: false, env: {}, written: json },
    { format: 'auto', isTTY: false, env: { FORCE_COLOR: '1' }, written: json },
    { format: 'json', isTTY: true, env: {}, written: json },
    { format: 'logfmt', isTTY: false, env: {}, written: logfmt },
    { format: 'logfmt', isTTY: true, env: { FORCE_COLOR: '1' }, written: logfmt },
    { format: 'auto', isTTY: true, env: {}, written: colored },
    { format: 'pretty', isTTY: false, env: {}, written: pretty },
    { format: 'pretty', isTTY: undefined, env: {}, written: pretty },
    { format: 'auto', isTTY: true, env: { NO_COLOR: '1' }, written: pretty },
    { format: 'auto', isTTY: true, env: { NO_COLOR: '0' }, written: pretty },
    { format: 'auto', isTTY: true, env: { NO_COLOR: '' }, written: colored },
    { format: 'auto', isTTY: true, env: { TERM: 'dumb' }, written: pretty },
    { format: 'pretty', isTTY: false, env: { FORCE_COLOR: '' }, written: colored },
    {
      format: 'pretty',
      isTTY: false,
      env: { FORCE_COLOR: '3', NO_COLOR: '1', TERM: 'dumb' },
      written: colored,
    },
    { format: 'auto', isTTY: true, env: { FORCE_COLOR: '0' }, written: pretty },
    { format: 'auto', isTTY: true, env: { FORCE_COLOR: 'false' }, written: pretty },
  ] as const)('$format with a terminal: $isTTY, and $env', async ({ written, ...options }) => {
    const { log, lines } = await captureLog(options);

    log.info({ port: 9126 }, 'started');

    expect(lines).toEqual([written]);
  });

  it.each(['json', 'logfmt', 'pretty'] as const)(
    'keeps what could disturb a terminal out of %s, in names, values and messages',
    async (format) => {
      const { log, lines } = await captureLog({ format });
      const hostile = `\u001B[2J\u009b31m\u0007\u202egnp.exe\u2028a\u200bb\ufeff\ud83d\r\nlevel=error faked`;

      log.info({ app_name: hostile, [hostile]: hostile, error: new Error(hostile) }, hostile);

      expect(lines).toHaveLength(1);
      expect(lines.join('').slice(0, -1)).not.toMatch(/[\p{Cc}\p{Cs}\p{Cf}\p{Zl}\p{Zp}]/u);
    },
  );
});

describe('a very long text', () => {
  it.each(['json', 'logfmt', 'pretty'] as const)(
    'is cut, but for secrets, and says so: %s',
    async (format) => {
      const { log, redactor, lines } = await captureLog({ format });
      redactor.add('secret-of-the-account');

      // Of a secret that is cut in two, no part would be known as one.
      log.info({ app_name: `${'x'.repeat(8180)}secret-of-the-account${'x'.repeat(10)}` }, 'long');

      expect(lines.join('')).toContain('x[redacted]xx… (8 more characters)');
    },
  );
});

describe('an error among the fields', () => {
  const error = new ApiError('server', 'New Relic answered 503', {
    status: 503,
    cause: new TypeError('socket hang up'),
  });

  it('becomes type, message, reason, status and cause, without stack', async () => {
    const { log, lines } = await captureLog();

    log.error({ error }, 'poll failed');

    expect(JSON.parse(lines.join(''))).toEqual({
      level: 'error',
      time: '2026-09-01T10:00:30.250Z',
      msg: 'poll failed',
      error: {
        type: 'ApiError',
        message: 'New Relic answered 503',
        reason: 'server',
        status: 503,
        cause: { type: 'TypeError', message: 'socket hang up' },
      },
    });
  });

  it('carries its stack at level debug', async () => {
    const { log, lines } = await captureLog({ level: 'debug' });

    log.error({ error }, 'poll failed');

    expect(lines.join('')).toMatch(/"stack":"ApiError: .*logger\.test\.ts/);
  });
});

describe('a registered secret', () => {
  const plainSecret = fc.string({ minLength: 8, maxLength: 40, unit: 'binary-ascii' });
  const secrets = plainSecret.filter((text) => text.trim().length >= 8);
  const places = fc.constantFrom<(text: string) => unknown>(
    (text) => text,
    (text) => ({ [text]: 1 }),
    (text) => [{ deep: { deeper: [`x${text}y`] } }],
    (text) => new Error(`bad ${text}`),
    (text) => new ApiError('server', 'bad', { cause: new Error('why', { cause: text }) }),
    (text) => new AggregateError([new Error(text)]),
    (text) => Object.assign(new Error('x'), { name: text, stack: `at ${text}` }),
    (text) => ({ headers: { 'Api-Key': text } }),
  );

  it('is nowhere in the output, wherever it was in the fields or the message', async () => {
    await fc.assert(
      fc.asyncProperty(
        secrets,
        places,
        fc.constantFrom('json' as const, 'pretty' as const, 'logfmt' as const),
        fc.jsonValue(),
        async (secret, place, format, other) => {
          const { log, redactor, lines } = await captureLog({ level: 'debug', format });
          redactor.add(secret);

          log.info({ other, value: place(secret), error: place(secret) }, `message ${secret}`);

          const bare = secret.trim();
          const output = lines.join('');
          expect(lines).toHaveLength(1);
          expect(output).not.toContain(bare);
          expect(output).not.toContain(JSON.stringify(bare).slice(1, -1));
          expect(output).not.toContain(encodeURIComponent(bare));
        },
      ),
      { numRuns: 300 },
    );
  });

  it('is removed from a number', async () => {
    const { log, redactor, lines } = await captureLog();
    redactor.add('1234567890');

    log.info({ pin: 1_234_567_890, count: 12 }, 'numbers');

    expect(JSON.parse(lines.join(''))).toMatchObject({ pin: '[redacted]', count: 12 });
  });
});

describe('a field that is always secret', () => {
  it('is replaced without being registered, but not the place a key comes from', async () => {
    const { log, lines } = await captureLog();
    const secret = { api_key: 'x', 'x-api-key': 'x', Authorization: 'x', password: ['x'] };
    const open = { accept: 'application/json', apiKeyFile: '/run/secrets/key' };

    log.info({ headers: { ...secret, ...open } }, 'request');

    const hidden = Object.keys(secret).map((name) => [name, '[redacted]']);
    expect(JSON.parse(lines.join(''))).toMatchObject({
      headers: { ...Object.fromEntries(hidden), ...open },
    });
  });
});

describe('a value that JSON cannot carry', () => {
  const circular: Record<string, unknown> = { name: 'loop' };
  circular['self'] = circular;
  const tower: unknown = JSON.parse('['.repeat(5000) + ']'.repeat(5000));
  const trap = {
    get trap(): never {
      throw new Error('no');
    },
  };
  const unnamed = Object.defineProperty(
    new Error('x'),
    'name',
    Object.getOwnPropertyDescriptor(trap, 'trap') ?? {},
  );

  const loop = new Error('loop');
  loop.cause = loop;

  it.each([
    { what: 'a loop', fields: { value: circular } },
    {
      what: 'an error that is its own cause',
      fields: { error: loop },
      shown: { error: { message: 'loop' } },
    },
    { what: 'a getter that throws', fields: { value: trap } },
    { what: 'a getter that throws at the top', fields: trap },
    { what: 'an error whose name cannot be read', fields: { error: unnamed } },
    { what: 'a bigint', fields: { value: 12n } },
    { what: 'no number', fields: { value: Number.NaN } },
    { what: 'a high tower', fields: { value: tower } },
    { what: 'null', fields: { value: null } },
  ])('$what takes nothing from the line but itself', async ({ fields, shown }) => {
    const { log, lines } = await captureLog();

    log.info(fields, 'odd');

    expect(JSON.parse(lines.join(''))).toMatchObject({ level: 'info', msg: 'odd', ...shown });
  });
});

describe('a reader that went away', () => {
  it('ends neither the logger nor the process', async () => {
    const stream = new Writable({
      write: (_chunk, _encoding, done) => {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    const log = await createLogger(
      { logLevel: 'info', logFormat: 'json' },
      { stderr: stream, redactor: createRedactor(), clock, env: {} },
    );

    log.info({}, 'first');
    await settle();
    log.info({}, 'second');
    await settle();

    expect(stream.destroyed).toBe(true);
    expect(stream.listenerCount('error')).toBeGreaterThan(0);
  });
});

describe('a reader that stands still', () => {
  it('costs lines but no memory, and the log says how many', async () => {
    const lines: string[] = [];
    const stderr = {
      writableLength: 0,
      write: (line: string) => lines.push(line),
      on: () => undefined,
    };
    const log = await createLogger(
      { logLevel: 'info', logFormat: 'json' },
      { stderr, redactor: createRedactor(), clock, env: {} },
    );
    stderr.writableLength = 5 * 1024 * 1024;
    log.info({}, 'one');
    log.info({}, 'two');
    stderr.writableLength = 0;
    log.info({}, 'three');
    log.info({}, 'four');

    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { msg: 'three' },
      { level: 'warn', lost: 2, msg: 'lines of the log were lost: nobody read them' },
      { msg: 'four' },
    ]);
  });
});

const application = { account: 'production', app_id: '31584797', app_name: 'Checkout "EU" (new)' };

describe('the log of an eventful minute', () => {
  it.each([
    { format: 'json', isTTY: false },
    { format: 'logfmt', isTTY: false },
    { format: 'pretty', isTTY: false },
    { format: 'pretty', isTTY: true },
  ] as const)('is as it was: $format, on a terminal $isTTY', async (options) => {
    const { log, lines } = await captureLog({ ...options, level: 'debug' });
    const error = new ApiError('auth', 'list_applications: status 401. Check the API key.', {
      status: 401,
    });
    error.stack = 'ApiError: list_applications: status 401.\n    at discover (discovery.ts:1)';

    log.info({ version: '0.1.0', addresses: [{ host: '::', port: 9126 }] }, 'listening');
    log.info({ account: 'production', listed: 12, selected: 3 }, 'account discovered');
    log.error({ account: 'production', error }, 'discovery failed');
    log.warn({ ...application, reason: 'timeout', remedy: 'wait' }, 'values dropped');
    log.warn(
      { account: 'production', reason: 'dns', applications: 2, examples: ['a b', '\u202ec'] },
      'still failing',
    );
    log.info({ ...application, suppressed: 41 }, 'poll works again');
    log.error(
      { trigger: 'file', problem: 'c.yaml:2:3: unknown key\n  2 | x: 1', remedy: 'correct it' },
      'reload failed',
    );
    log.debug(
      { account: 'production', host_id: '7', status: 200, bytes: 179, duration_ms: 119 },
      'call to the vendor',
    );

    const name = `log-${options.format}${options.isTTY ? '-terminal' : ''}.txt`;
    const golden = new URL(`../golden/${name}`, import.meta.url);
    await expect(lines.join('')).toMatchFileSnapshot(golden.pathname);
  });
});
