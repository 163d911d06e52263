import { describe, expect, it } from 'vitest';
import { createWaitingLine } from '../../src/transport/waiting-line.ts';
import { neverAborted } from './fakes.ts';

describe('createWaitingLine', () => {
  it('serves in order of arrival, the urgent ones before the others', async () => {
    const line = createWaitingLine<number>();
    const turns = [false, true, false, true].map(async (urgent) => line.wait(urgent, neverAborted));

    for (let place = 1; place <= 4; place += 1) line.grantFirst(place);

    expect(await Promise.all(turns)).toEqual([3, 1, 4, 2]);
    expect(line.size()).toBe(0);
  });

  it('lets who goes leave the line, and nobody else', async () => {
    const line = createWaitingLine<number>();
    const controller = new AbortController();
    const reason = new Error('stopping');
    const first = line.wait(false, neverAborted);
    const gone = line.wait(false, controller.signal);
    const last = line.wait(false, neverAborted);

    controller.abort(reason);
    line.grantFirst(1);
    line.grantFirst(2);

    await expect(gone).rejects.toBe(reason);
    expect(await Promise.all([first, last])).toEqual([1, 2]);
  });

  it('takes no notice when somebody goes who has been served', async () => {
    const line = createWaitingLine<number>();
    const controller = new AbortController();
    const first = line.wait(false, controller.signal);
    void line.wait(false, neverAborted);

    line.grantFirst(1);
    controller.abort(new Error('stopping'));

    expect(await first).toBe(1);
    expect(line.size()).toBe(1);
  });
});
