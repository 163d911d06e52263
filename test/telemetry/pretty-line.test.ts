import { describe, expect, it } from 'vitest';
import { prettyLine } from '../../src/telemetry/pretty-line.ts';

const time = '2026-09-01T10:00:30.250Z';
const failed = {
  level: 'warn',
  time,
  account: 'production',
  app_id: '31584797',
  app_name: 'Checkout (production)',
  failed: 1,
  calls: 4,
  error: {
    type: 'ApiError',
    message: 'api.newrelic.com: no complete answer in time (UND_ERR); if this lasts, raise timeout',
    reason: 'timeout',
  },
  msg: 'poll failed',
};

describe('a line for people', () => {
  it.each([
    {
      what: 'the message, whom it is about and why, the error, then the rest',
      entry: failed,
      text: `${time} WARN  poll failed  account=production app_name="Checkout (production)" app_id=31584797 reason=timeout  error: api.newrelic.com: no complete answer in time (UND_ERR); if this lasts, raise timeout  failed=1 calls=4 error.type=ApiError`,
    },
    {
      what: 'the remedy before the rest, wherever it was',
      entry: {
        level: 'warn',
        time,
        account: 'production',
        selector: 'name=Not there',
        remedy: 'correct the entry, or use another key',
        msg: 'entry of apps matches nothing',
      },
      text: `${time} WARN  entry of apps matches nothing  account=production  remedy: correct the entry, or use another key  selector="name=Not there"`,
    },
    {
      what: 'lists as JSON',
      entry: {
        level: 'warn',
        time,
        account: 'production',
        reason: 'dns',
        applications: 2,
        examples: ['a', 'b "c"'],
        msg: 'still failing',
      },
      text: `${time} WARN  still failing  account=production reason=dns  applications=2 examples=["a","b \\"c\\""]`,
    },
    {
      what: 'a text of several lines below it, indented',
      entry: {
        level: 'error',
        time,
        trigger: 'file',
        problem: 'config.yaml:2:3: unknown key\n  2 |  x: 1\n    |  ^',
        remedy: 'correct the file',
        msg: 'reload failed',
      },
      text: [
        `${time} ERROR reload failed  remedy: correct the file  trigger=file`,
        '    config.yaml:2:3: unknown key',
        '      2 |  x: 1',
        '        |  ^',
      ].join('\n'),
    },
    {
      what: 'a stack below it',
      entry: {
        level: 'error',
        time,
        error: { type: 'Error', message: 'broken', stack: 'Error: broken\n  at a.ts:1' },
        msg: 'server failed',
      },
      text: `${time} ERROR server failed  error: broken  error.type=Error\n    Error: broken\n      at a.ts:1`,
    },
    {
      what: 'only what there is',
      entry: { level: 'info', time, msg: 'stopping' },
      text: `${time} INFO  stopping`,
    },
  ])('has $what', ({ entry, text }) => {
    expect(prettyLine(entry, { isColored: false })).toBe(text);
  });

  it.each([
    { level: 'debug', color: 34 },
    { level: 'info', color: 32 },
    { level: 'warn', color: 33 },
    { level: 'error', color: 31 },
  ])('has its level in colour, and its message in bold: $level', ({ level, color }) => {
    const line = prettyLine({ level, time, msg: 'poll failed', failed: 1 }, { isColored: true });

    const escape = '\u001B';
    expect(line).toBe(
      `${time} ${escape}[${color}m${level.toUpperCase().padEnd(5)}${escape}[0m ${escape}[1mpoll failed${escape}[0m  failed=1`,
    );
  });

  it('lets no name look like another part of the line', () => {
    const name = 'x  remedy: rm -rf / app_id=7\n2026 ERROR faked';
    const line = prettyLine({ ...failed, app_name: name }, { isColored: false });

    expect(line).toContain(
      String.raw`app_name="x  remedy: rm -rf / app_id=7\n2026 ERROR faked" app_id=31584797`,
    );
    expect(line).not.toContain('\n');
  });
});
