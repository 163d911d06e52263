import { pathToFileURL } from 'node:url';
import { hashSync } from 'bcryptjs';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createPasswordThread } from '../../src/daemon/password-thread.ts';
import type { ComparePassword } from '../../src/web/basic-auth.ts';
import { mainFile } from '../support/daemon-process.ts';
import { createFakeClock } from '../support/fake-clock.ts';
import { slow } from '../support/slow.ts';

function aThread(program = pathToFileURL(mainFile)): ComparePassword {
  const clock = createFakeClock();
  onTestFinished(() => {
    expect(clock.pendingTimers()).toBe(0);
  });
  return createPasswordThread(program, clock);
}

describe('the thread of the built program that compares passwords', () => {
  it('finds what is right', async () => {
    const compare = aThread();
    const hash = hashSync('grüße', 4);
    // Other programs write other variants, which mean the same.
    const variants = [hash, hash.replace('$2b$', '$2y$'), hash.replace('$2b$', '$2a$')];
    const found: boolean[] = [];
    for (const variant of variants) found.push(await compare(variant, 'grüße'));
    for (const wrong of ['', 'grusse', 'GRÜSSE']) found.push(await compare(hash, wrong));

    expect(found).toEqual([true, true, true, false, false, false]);
  });

  it('lets other work go on meanwhile', slow, async () => {
    const compare = aThread();
    const hash = hashSync('right', 4).replace('$04$', '$11$');
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    const isMatch = await compare(hash, 'right');
    clearInterval(timer);

    expect(isMatch).toBe(false);
    expect(turns).toBeGreaterThan(3);
  });

  it('fits nothing to the hash that stands for unknown users', async () => {
    const compare = aThread();

    expect(await compare(`$2y$04$${'.'.repeat(53)}`, '')).toBe(false);
  });

  it('is ended after two minutes', async () => {
    const clock = createFakeClock();
    const compare = createPasswordThread(pathToFileURL(mainFile), clock);
    const comparing = compare(hashSync('right', 4).replace('$04$', '$20$'), 'right');

    await Promise.all([
      expect(comparing).rejects.toThrow('the thread that checks a password ended'),
      clock.advance(120_000),
    ]);
  });

  it('fails every comparison if it cannot start', async () => {
    const compare = aThread(new URL('file:///nothing/there.js'));

    await expect(compare('hash', 'one')).rejects.toThrow('/nothing/there.js');
    await expect(compare('hash', 'two')).rejects.toThrow('/nothing/there.js');
  });
});
