import { describe, expect, it } from 'vitest';
import { presetNames, presets } from '../../src/model/presets.ts';
import { surelyHas } from '../../src/tools/known-values.ts';

describe('the values that a metric surely has', () => {
  it.each([
    { name: 'HttpDispatcher', has: 'average_response_time' },
    { name: 'WebTransaction/Controller/orders/show', has: 'requests_per_minute' },
    { name: 'Datastore/statement/MySQL/orders/select', has: 'call_count' },
    { name: 'Apdex', has: 'score' },
    { name: 'Memory/Physical', has: 'used_bytes_by_host' },
  ])('of $name have $has', ({ name, has }) => {
    expect(surelyHas(name)).toContain(has);
  });

  it.each([
    'Custom/Queue/Depth',
    'HttpDispatcher/x',
    'WebTransactionTotalTime/Controller/orders',
    'Apdex/Controller/orders',
    'Datastore',
    'My/Datastore/all',
  ])('of %s are not known', (name) => {
    expect(surelyHas(name)).toBeUndefined();
  });

  it('have everything that a preset reads', () => {
    const read = presetNames
      .flatMap((preset) => presets[preset])
      .flatMap(({ sources }) => Object.values(sources));

    expect(read.filter(({ metric, value }) => surelyHas(metric)?.includes(value) !== true)).toEqual(
      [],
    );
  });
});
