import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createProgressLine } from '../../src/cli/progress-line.ts';
import type { Output } from '../../src/daemon/platform.ts';
import { createFakeClock, type FakeClock } from '../support/fake-clock.ts';

interface Screen extends Output {
  readonly parts: string[];
  /** What stands on the screen: the last line as it is after all erasing. */
  lines(): readonly string[];
}

function aScreen(isTTY: boolean, columns?: number): Screen {
  const parts: string[] = [];
  return {
    isTTY,
    columns,
    parts,
    write: (text) => parts.push(text),
    on: () => undefined,
    lines: () =>
      parts
        .join('')
        .split('\n')
        .map((line) => stripVTControlCharacters(line.split('\r\u001B[K').at(-1) ?? '')),
  };
}

function aLine(
  screen: Screen,
  env: Readonly<Record<string, string>> = {},
): { readonly clock: FakeClock; readonly line: ReturnType<typeof createProgressLine> } {
  const clock = createFakeClock();
  return { clock, line: createProgressLine({ stderr: screen, env }, { clock }) };
}

describe('progress on a terminal', () => {
  it('is not shown before a second, then updated in place, and erased at the end', async () => {
    const screen = aScreen(true);
    const { clock, line } = aLine(screen);
    let count = 1;

    line.show(() => `${count} answers`);
    await clock.advance(999);
    const early = screen.parts.length;
    await clock.advance(1);
    const first = screen.lines();
    count = 2;
    await clock.advance(3000);
    const later = screen.lines();
    line.end();

    expect(early).toBe(0);
    expect(first).toEqual(['1 answers … 1 s']);
    expect(later).toEqual(['2 answers … 4 s']);
    expect(screen.lines()).toEqual(['']);
    expect(clock.pendingTimers()).toBe(0);
  });

  it('makes way for what else is written, and comes back below it', async () => {
    const screen = aScreen(true);
    const { clock, line } = aLine(screen);

    line.show(() => 'polling');
    await clock.advance(1500);
    line.stderr.write('a warning\n');
    const between = screen.lines();
    await clock.advance(500);

    expect(between).toEqual(['a warning', '']);
    expect(screen.lines()).toEqual(['a warning', 'polling … 2 s']);
    line.end();
  });

  it('is cut to the width of the terminal, with room for wide characters', async () => {
    const screen = aScreen(true, 12);
    const { clock, line } = aLine(screen);

    line.show(() => 'abcdefghijklmnop');
    await clock.advance(1000);
    const narrow = screen.lines();
    line.show(() => '検索検索検索検索');
    await clock.advance(200);

    expect(narrow).toEqual(['abcdefghijk']);
    expect(screen.lines()).toEqual(['検索検索検']);
    line.end();
  });

  it('holds no escape sequences of a name', async () => {
    const screen = aScreen(true);
    const { clock, line } = aLine(screen);

    line.show(() => 'account \u001B[2J\nx');
    await clock.advance(1000);

    expect(screen.lines()).toEqual(['account \\u{1b}[2J\\u{a}x … 1 s']);
    line.end();
  });

  it.each([
    { env: {}, isColored: true },
    { env: { NO_COLOR: '1' }, isColored: false },
    { env: { FORCE_COLOR: '0' }, isColored: false },
  ])('is dim only where colours are wanted: $env', async ({ env, isColored }) => {
    const screen = aScreen(true);
    const { clock, line } = aLine(screen, env);

    line.show(() => 'x');
    await clock.advance(1000);

    expect(screen.parts.join('').includes('\u001B[2m')).toBe(isColored);
    line.end();
  });
});

describe('progress elsewhere', () => {
  it.each([
    { what: 'a pipe', screen: aScreen(false), env: {} },
    { what: 'a dumb terminal', screen: aScreen(true), env: { TERM: 'dumb' } },
  ])('is a plain line every ten seconds: in $what', async ({ screen, env }) => {
    const { clock, line } = aLine(screen, env);

    line.show(() => 'polling');
    await clock.advance(9999);
    const early = screen.parts.length;
    await clock.advance(20_001);
    line.stderr.write('a warning\n');
    line.end();

    expect(early).toBe(0);
    expect(screen.parts).toEqual([
      'polling … 10 s\n',
      'polling … 20 s\n',
      'polling … 30 s\n',
      'a warning\n',
    ]);
  });
});
