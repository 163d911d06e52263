import { describe, expect, it } from 'vitest';
import { anApplication, aSnapshot, aStore, linesOf } from './builders.ts';

function anInfo(account: string, id: string): ReturnType<typeof aSnapshot> {
  return aSnapshot({ account, application: anApplication({ id, name: 'x' }) });
}

describe('createChunkStore, at its edges', () => {
  it('knows nothing of an account that it was never told of', () => {
    const store = aStore();

    store.remove('nobody', '1');

    expect(store.seriesOf('nobody')).toBe(0);
    expect(store.droppedOf('nobody')).toBe(0);
  });

  it('orders accounts by name, however they arrive', async () => {
    const store = aStore();
    for (const account of ['b', 'c', 'a']) {
      store.accountUp(account, true);
      store.publish(anInfo(account, '1'));
    }

    const up = await linesOf(store, 'newrelic_up');
    const infos = await linesOf(store, 'newrelic_application_info');

    expect(up).toEqual(['{account="a"} 1', '{account="b"} 1', '{account="c"} 1']);
    expect(infos.map((line) => line.slice(0, 12))).toEqual([
      '{account="a"',
      '{account="b"',
      '{account="c"',
    ]);
  });

  it('leaves labels to who has them when another account that wanted them goes', async () => {
    const store = aStore();
    store.accountUp('a\u0000', true);
    store.accountUp('a\u0001', false);

    store.removeAccount('a\u0001');
    store.accountUp('a\u0002', false);

    expect(await linesOf(store, 'newrelic_up')).toEqual(['{account="a\uFFFD"} 1']);
    expect(store.droppedOf('a\u0002')).toBe(1);
  });
});
