import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { createAbortWatch } from '../../src/transport/deadline.ts';

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

describe('createAbortWatch', () => {
  it('tells every call of the signal, in order, and no call of another one', () => {
    const watch = createAbortWatch({ keepsListening: false });
    const controller = new AbortController();
    const told: string[] = [];
    watch.add(controller.signal, () => told.push('first'));
    watch.add(controller.signal, () => told.push('second'));
    watch.add(new AbortController().signal, () => told.push('other'));

    controller.abort();

    expect(told).toEqual(['first', 'second']);
  });

  it('tells nobody who has left', () => {
    const watch = createAbortWatch({ keepsListening: true });
    const controller = new AbortController();
    const told: string[] = [];
    const left = (): void => {
      told.push('left');
    };
    watch.add(controller.signal, left);
    watch.add(controller.signal, () => told.push('stayed'));
    watch.remove(controller.signal, left);
    watch.remove(controller.signal, left);

    controller.abort();

    expect(told).toEqual(['stayed']);
  });

  it('tells the others too when one leaves while it is told', () => {
    const watch = createAbortWatch({ keepsListening: false });
    const controller = new AbortController();
    const told: string[] = [];
    const leaving = (): void => {
      told.push('leaving');
      watch.remove(controller.signal, leaving);
    };
    watch.add(controller.signal, leaving);
    watch.add(controller.signal, () => told.push('staying'));

    controller.abort();

    expect(told).toEqual(['leaving', 'staying']);
  });

  it.each([
    { keepsListening: false, listeners: [1, 1, 0, 1] },
    { keepsListening: true, listeners: [1, 1, 1, 1] },
  ])('listens once at most; keepsListening: $keepsListening', ({ keepsListening, listeners }) => {
    const watch = createAbortWatch({ keepsListening });
    const { signal } = new AbortController();
    const [first, second] = [() => undefined, () => undefined];
    const seen: number[] = [];

    watch.add(signal, first);
    watch.add(signal, second);
    seen.push(listenersOf(signal));
    watch.remove(signal, first);
    seen.push(listenersOf(signal));
    watch.remove(signal, second);
    seen.push(listenersOf(signal));
    watch.add(signal, first);
    seen.push(listenersOf(signal));

    expect(seen).toEqual(listeners);
  });
});
