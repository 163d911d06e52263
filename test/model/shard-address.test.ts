import { describe, expect, it } from 'vitest';
import { isShardAddress } from '../../src/model/shard-address.ts';

describe('isShardAddress', () => {
  it.each([
    { text: 'exporter-{shard}.exporter:9126', isOne: true },
    { text: '10.0.0.{shard}:9126', isOne: true },
    { text: '[2001:db8::{shard}]:9126', isOne: true },
    { text: 'exporter:912{shard}', isOne: true },
    { text: 'exporter:9126', isOne: false },
    { text: 'exporter-{shard}', isOne: false },
    { text: 'http://exporter-{shard}:9126', isOne: false },
    { text: 'exporter-{shard}:9126/metrics', isOne: false },
    { text: 'exporter-{ordinal}:9126', isOne: false },
    { text: 'exporter-{shard}:0', isOne: false },
    { text: '{shard}', isOne: false },
  ])('$text: $isOne', ({ text, isOne }) => {
    expect(isShardAddress(text)).toBe(isOne);
  });
});
