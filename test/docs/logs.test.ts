import { describe, expect, it } from 'vitest';
import { readSourceFiles } from '../architecture/source-files.ts';
import { readDocument } from './documents.ts';
import { type LogMessage, loggedMessages, logProblems } from './log-message-rule.ts';

const logged = loggedMessages(readSourceFiles());

describe('docs/logs.md', () => {
  it('has every message that the code logs, with its level and fields, and no other', () => {
    expect(logged.length).toBeGreaterThan(50);
    expect(logProblems(readDocument('docs/logs.md').text, logged)).toEqual([]);
  });
});

describe('the fields of the log', () => {
  it('are named in snake case, and not like what every line has', () => {
    const names = logged.flatMap(({ fields }) => fields);

    expect(names.filter((name) => !/^[a-z]+(?:_[a-z]+)*$/.test(name))).toEqual([]);
    expect(names.filter((name) => ['level', 'time', 'msg', 'err'].includes(name))).toEqual([]);
  });
});

describe('loggedMessages', () => {
  const messagesOf = (text: string): readonly LogMessage[] =>
    loggedMessages([{ path: 'a.ts', text }]);

  it.each([
    {
      what: 'a call with its fields',
      text: "logger.warn({ account, a: 1, ...b, ...(c ? { d } : {}) }, 'it failed');",
      found: [{ message: 'it failed', level: 'warn', fields: ['account', 'a', 'd'] }],
    },
    {
      what: 'a logger that is a member',
      text: "this.#dependencies.logger.info({}, 'a'); options.logger.error({}, 'b');",
      found: [
        { message: 'a', level: 'info', fields: [] },
        { message: 'b', level: 'error', fields: [] },
      ],
    },
    {
      what: 'a message and fields that are declared before, the nearest of that name',
      text: `const fields = { a };
        const message = x ? 'one' : 'two';
        logger.info(fields, message);
        { const fields = { b }; logger.info(fields, 'three'); }`,
      found: [
        { message: 'one', level: 'info', fields: ['a'] },
        { message: 'two', level: 'info', fields: ['a'] },
        { message: 'three', level: 'info', fields: ['b'] },
      ],
    },
    {
      what: 'nothing in comments and texts',
      text: "// logger.info({}, 'a')\n'logger.info'",
      found: [],
    },
    { what: 'no other call', text: "response.error({}, 'a'); logger.with({}, 'b');", found: [] },
  ])('finds $what', ({ text, found }) => {
    expect(messagesOf(text)).toEqual(found);
  });

  it.each([
    'logger.info({}, `a ${b}`);',
    "logger[level]({}, 'a');",
    'logger.info({}, messageOf(a));',
  ])('refuses what cannot be read: %s', (text) => {
    expect(() => messagesOf(text)).toThrow('a.ts: a log call whose level or message');
  });
});

describe('logProblems', () => {
  const found = [{ message: 'it failed', level: 'warn', fields: ['account'] }];
  const tableOf = (...rows: readonly string[]): string =>
    ['| message | level | fields | meaning |', '| --- | --- | --- | --- |', ...rows, ''].join('\n');

  it.each([
    { what: 'nothing is wrong', rows: ['| `it failed` | warn | `account` | x |'], problems: [] },
    { what: 'a message is missing', rows: [], problems: ['"it failed" is not documented'] },
    {
      what: 'level and fields differ, and a message is gone',
      rows: ['| `it failed` | info | | x |', '| `it fell` | info | | x |'],
      problems: [
        '"it failed" has the level warn',
        '"it failed" has the field account',
        '"it fell" is logged nowhere',
      ],
    },
    {
      what: 'a message is there twice',
      rows: ['| `it failed` | warn | `account` | x |', '| `it failed` | warn | `account` | x |'],
      problems: ['"it failed" is documented twice'],
    },
  ])('says when $what', ({ rows, problems }) => {
    expect(logProblems(tableOf(...rows), found)).toEqual(problems);
  });
});
