import { describe, expect, it } from 'vitest';
import { prefersGzip } from '../../src/server/accept-encoding.ts';

describe('prefersGzip', () => {
  it.each([
    { header: undefined, gzip: false },
    { header: '', gzip: false },
    { header: 'gzip', gzip: true },
    { header: 'GZip', gzip: true },
    { header: 'x-gzip', gzip: true },
    { header: 'deflate, gzip, br', gzip: true },
    { header: 'deflate, br', gzip: false },
    { header: 'gzip;q=0', gzip: false },
    { header: 'gzip; q=0.000', gzip: false },
    { header: 'gzip ; q=0.5', gzip: true },
    { header: 'gzip;Q=1.000', gzip: true },
    { header: '*', gzip: true },
    { header: '*;q=0', gzip: false },
    { header: 'gzip;q=0, *', gzip: false },
    { header: 'identity', gzip: false },
    { header: 'identity;q=0.5, gzip;q=0.4', gzip: false },
    { header: 'identity;q=0.5, gzip;q=0.5', gzip: true },
    { header: 'gzip;q=0.4, *;q=0.5', gzip: false },
    { header: 'identity;q=0, gzip;q=0.1', gzip: true },
    { header: 'gzip;q=2', gzip: false },
    { header: 'gzip;q=', gzip: false },
    { header: 'gzip;level=1', gzip: false },
    { header: 'gzipped', gzip: false },
    { header: ',,gzip,', gzip: true },
  ])('says $gzip to $header', ({ header, gzip }) => {
    expect(prefersGzip(header)).toBe(gzip);
  });
});
