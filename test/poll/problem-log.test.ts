import { describe, expect, it } from 'vitest';
import type { Problem } from '../../src/model/problem.ts';
import { type ProblemKind, problemKinds } from '../../src/model/problem-kinds.ts';
import { minuteMs } from '../../src/model/time.ts';
import { ProblemLog } from '../../src/poll/problem-log.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function aLog() {
  const clock = createFakeClock();
  const logger = createFakeLogger();
  const log = new ProblemLog({ account: 'production' }, { clock, logger });
  let shown = 0;
  const fresh = () => logger.lines.slice(shown, (shown = logger.lines.length));
  return { clock, log, fresh, messages: () => fresh().map(({ message }) => message) };
}

function aProblem(kind: ProblemKind, parts: Partial<Problem> = {}): Problem {
  const { tone, remedy, log } = problemKinds[kind];
  return { kind, tone, remedy, log, sinceMs: undefined, text: 'what is wrong', ...parts };
}

const epochMs = createFakeClock().wallMs();

const failing = (id: number, parts: Partial<Problem> = {}): Problem =>
  aProblem('application_failing', {
    subject: { app_id: `${id}`, app_name: `shop ${id}` },
    reason: 'timeout',
    ...parts,
  });

describe('the log of problems', () => {
  it('has a line when one begins, and when it ends', () => {
    const { log, fresh } = aLog();
    for (const problems of [[], [failing(1)], [failing(1)], []]) log.tell(problems);

    const subject = { account: 'production', app_id: '1', app_name: 'shop 1' };
    expect(fresh()).toMatchObject([
      {
        level: 'warn',
        message: 'poll failed',
        fields: { ...subject, error: { reason: 'timeout', message: 'what is wrong' } },
      },
      { level: 'info', message: 'poll works again', fields: subject },
    ]);
  });

  it('has one line for many that begin or end together, with their number', () => {
    const { log, fresh } = aLog();
    const many = Array.from({ length: 10_000 }, (_, id) => failing(id));
    for (const problems of [many, []]) log.tell(problems);

    const counted = { count: 10_000, examples: [0, 1, 2, 3, 4].map((id) => `shop ${id}`) };
    expect(fresh()).toMatchObject([
      { message: 'poll failed', fields: counted },
      { message: 'poll works again', fields: counted },
    ]);
  });

  it.each<[string, readonly (readonly Problem[])[], readonly string[]]>([
    [
      'for another reason, which is another failure',
      [[failing(1)], [failing(1, { reason: 'server' })]],
      ['poll failed', 'poll failed'],
    ],
    ['for what another one explains', [[failing(1, { isEffect: true })], []], []],
    [
      'when a failure that was told is explained, but at its end',
      [[failing(1)], [failing(1, { isEffect: true })], []],
      ['poll failed', 'poll works again'],
    ],
    ['for a poll that waits', [[failing(1, { reason: 'throttled', sinceMs: epochMs })], []], []],
    [
      'for values that were dropped, whatever the reason',
      [[aProblem('application_dropped', { reason: 'throttled', subject: { app_id: '1' } })]],
      ['values dropped'],
    ],
    ['for a file that is refused, of which others tell', [[aProblem('config_broken')], []], []],
    [
      'for each that begins, and none for those that last',
      [
        [aProblem('entry_matches_nothing', { subject: { selector: 'id=1' } })],
        [1, 2].map((id) =>
          aProblem('entry_matches_nothing', { subject: { selector: `id=${id}` } }),
        ),
      ],
      ['entry of apps matches nothing', 'entry of apps matches nothing'],
    ],
  ])('has lines %s', (_, told, messages) => {
    const bench = aLog();
    for (const problems of told) bench.log.tell(problems);

    expect(bench.messages()).toEqual(messages);
  });

  it('tells of a key that refuses one poll only when it lasts, for a list may say it for all', async () => {
    const { clock, log, messages } = aLog();
    const refused = failing(1, { reason: 'auth', sinceMs: clock.wallMs() });
    log.tell([refused]);
    const early = messages();
    await clock.advance(minuteMs);
    log.tell([refused]);

    expect([early, messages()]).toEqual([[], ['poll failed']]);
  });

  it('tells all if nobody looks again', () => {
    const { log, messages } = aLog();
    log.tell([failing(1, { reason: 'throttled' }), failing(2, { isEffect: true })], true);

    expect(messages()).toEqual(['poll failed', 'poll failed']);
  });

  it('reminds of each kind that lasts every ten minutes, the oldest first', async () => {
    const { clock, log, fresh } = aLog();
    const startMs = clock.wallMs();
    const problems = [
      failing(1, { sinceMs: startMs + 1 }),
      failing(2, { sinceMs: startMs, reason: 'dns' }),
      aProblem('key_unreadable'),
      aProblem('config_broken', { sinceMs: startMs }),
    ];
    for (let minute = 0; minute < 31; minute += 1) {
      log.tell(problems);
      await clock.advance(minuteMs);
    }
    const lines = fresh().filter(({ message }) => message.startsWith('still: '));

    expect(lines.map(({ message }) => message)).toEqual(
      [1, 2, 3].flatMap(() => [
        'still: poll failed',
        'still: API key not readable, keeping the old',
        'still: reload failed',
      ]),
    );
    expect(lines[0]?.fields).toMatchObject({
      count: 2,
      examples: ['shop 1', 'shop 2'],
      since: new Date(startMs).toISOString(),
      error: { reason: 'dns' },
    });
  });

  it('knows since when there have been problems that have no time of their own', async () => {
    const { clock, log } = aLog();
    const beginMs = clock.wallMs();
    const entry = (id: number): Problem =>
      aProblem('entry_matches_nothing', { subject: { selector: `id=${id}` } });
    log.tell([entry(1), failing(1, { sinceMs: beginMs })]);
    await clock.advance(minuteMs);
    log.tell([entry(1), entry(2), aProblem('key_unreadable')]);

    const [message] = problemKinds.entry_matches_nothing.log;
    expect(log.sinceMs()).toEqual(
      new Map([
        [`${message}\nid=1`, beginMs],
        [`${message}\nid=2`, beginMs + minuteMs],
        [problemKinds.key_unreadable.log[0], beginMs + minuteMs],
      ]),
    );
  });
});
