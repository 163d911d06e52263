import { isDeepStrictEqual } from 'node:util';
import { RE2JS } from 're2js';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { compileConfig } from '../../src/config/compile-config.ts';
import { parseConfig } from '../../src/config/parse-config.ts';
import type { AppEntry, PlainConfig } from '../../src/model/config.ts';
import { choosesHost } from '../../src/model/selected-application.ts';

async function plainOf(text: string): Promise<PlainConfig> {
  return (await parseConfig(text, { fileName: 'config.yaml', directory: '/' })).config;
}

function patterns(count: number): string {
  const entries = Array.from({ length: count }, (_, index) => `{ match: "^shop-${index}$" }`);
  return `apps: [${entries.join(', ')}, { id: 1 }]`;
}

function namesMatchedBy(entry: AppEntry | undefined, names: readonly string[]): readonly string[] {
  const selector = entry?.selector;
  return selector?.kind === 'match' ? names.filter((name) => selector.pattern.test(name)) : [];
}

const oneTurn = {
  nextTurn: async (): Promise<void> => {},
  clock: { monotonicMs: () => 0 },
  ownHostNames: ['web-1'],
};

describe('compileConfig', () => {
  it('tells an entry which host the process runs on, and compiles the pattern of host names', async () => {
    const plain = await plainOf(
      'apps: [{ id: 1, hosts: self }, { id: 2, hosts: { match: "^web-" } }, { id: 3 }]',
    );

    const [self, match, all] = (await compileConfig(plain, oneTurn)).apps.map(({ hosts }) => hosts);

    expect(self).toStrictEqual({ kind: 'self', names: ['web-1'] });
    expect(typeof match === 'object' && choosesHost(match, 'web-7')).toBe(true);
    expect(typeof match === 'object' && choosesHost(match, 'db-7')).toBe(false);
    expect(all).toBe(true);
  });

  it('compiles the patterns and keeps everything else', async () => {
    const plain = await plainOf('apps: [{ id: 1, hosts: false }, { match: "^shop-" }]');

    const config = await compileConfig(plain, oneTurn);

    const names = ['shop-eu', 'my shop-eu'];
    expect(namesMatchedBy(config.apps[1], names)).toStrictEqual(['shop-eu']);
    expect(config.accounts).toBe(plain.accounts);
    expect(config.apps[0]).toBe(plain.apps[0]);
    expect({ ...config.apps[1], selector: undefined }).toStrictEqual({
      ...plain.apps[1],
      selector: undefined,
    });
  });

  it('yields to other work every few milliseconds', async () => {
    let nowMs = 0;
    let turnStartMs = 0;
    const turnsMs: number[] = [];
    const clock = {
      monotonicMs: (): number => {
        nowMs += 1;
        return nowMs;
      },
    };
    const nextTurn = async (): Promise<void> => {
      turnsMs.push(nowMs - turnStartMs);
      nowMs += 1000;
      turnStartMs = nowMs;
    };

    const { apps } = await compileConfig(await plainOf(patterns(100)), {
      ...oneTurn,
      nextTurn,
      clock,
    });

    expect(apps).toHaveLength(101);
    expect(turnsMs.length).toBeGreaterThanOrEqual(10);
    expect(Math.max(...turnsMs)).toBeLessThanOrEqual(10);
  });

  it('makes equal configurations of equal ones, and different ones of others', async () => {
    const one = await compileConfig(await plainOf(patterns(1)), oneTurn);
    const same = await compileConfig(await plainOf(patterns(1)), oneTurn);
    const other = await compileConfig(await plainOf(patterns(2)), oneTurn);

    expect(isDeepStrictEqual(one, same)).toBe(true);
    expect(isDeepStrictEqual(one.apps[0], other.apps[1])).toBe(false);
  });

  it('compiles a text once', async () => {
    const text = 'apps: [{ match: "^shop-" }, { id: 1, hosts: { match: "^shop-" } }, { match: a }]';
    const plain = await plainOf(text);
    const compiled = vi.spyOn(RE2JS, 'compile');
    onTestFinished(() => {
      compiled.mockRestore();
    });

    await compileConfig(plain, oneTurn);

    expect(compiled.mock.calls.map(([source]) => source)).toEqual(['^shop-', 'a']);
  });
});
