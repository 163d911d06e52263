import { describe, expect, it } from 'vitest';
import { isCrossSite } from '../../src/server/cross-site.ts';

describe('isCrossSite', () => {
  it.each([
    { who: 'curl', headers: { host: 'exporter:9126' } },
    { who: 'our own page', headers: { host: 'exporter', 'sec-fetch-site': 'same-origin' } },
    { who: 'somebody who typed the address', headers: { 'sec-fetch-site': 'none' } },
    {
      who: 'our own page behind a proxy that changes the host',
      headers: {
        host: 'internal:9126',
        'sec-fetch-site': 'same-origin',
        origin: 'https://exporter.example',
      },
    },
    {
      who: 'our own page in an old browser',
      headers: { host: 'Exporter:9126', origin: 'http://exporter:9126' },
    },
    {
      who: 'our own page at the usual port',
      headers: { host: 'exporter:443', origin: 'https://exporter' },
    },
    {
      who: 'our own page at an IPv6 address',
      headers: { host: '[::1]:9126', origin: 'http://[::1]:9126' },
    },
  ])('lets $who ask', ({ headers }) => {
    expect(isCrossSite(headers)).toBe(false);
  });

  it.each([
    { who: 'another site', headers: { 'sec-fetch-site': 'cross-site' } },
    { who: 'another host of the same site', headers: { 'sec-fetch-site': 'same-site' } },
    {
      who: 'another site in an old browser',
      headers: { host: 'exporter:9126', origin: 'https://evil.example' },
    },
    {
      who: 'another port of the same host',
      headers: { host: 'exporter:9126', origin: 'http://exporter:3000' },
    },
    { who: 'a page without an origin', headers: { host: 'exporter:9126', origin: 'null' } },
    { who: 'a file', headers: { host: '', origin: 'file:///x' } },
    { who: 'nobody with a name', headers: { origin: 'http://exporter' } },
  ])('stops $who', ({ headers }) => {
    expect(isCrossSite(headers)).toBe(true);
  });
});
