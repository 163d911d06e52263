import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFor, prefersGzip } from '../../src/web/answer.ts';

describe('prefersGzip', () => {
  it.each([
    { header: undefined, gzip: false },
    { header: '', gzip: false },
    { header: 'gzip', gzip: true },
    { header: 'deflate, gzip, br', gzip: true },
    { header: 'gzip; q=0.000', gzip: false },
    { header: '*', gzip: true },
    { header: 'gzip;q=0, *', gzip: false },
    { header: 'identity;q=0.5, gzip;q=0.4', gzip: false },
  ])('is $gzip for $header', ({ header, gzip }) => {
    expect(prefersGzip(header)).toBe(gzip);
  });
});

describe('formatFor', () => {
  const prometheus2 =
    'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
  const prometheus3 =
    'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

  it.each([
    { who: 'Prometheus 2', accept: prometheus2, format: 'openmetrics' },
    { who: 'Prometheus 3', accept: prometheus3, format: 'openmetrics' },
    { who: 'curl', accept: '*/*', format: 'text' },
    { who: 'a browser', accept: browser, format: 'text' },
    { who: 'a client that says nothing', accept: undefined, format: 'text' },
    { who: 'a client that says an empty text', accept: '', format: 'text' },
  ])('is $format for $who', ({ accept, format }) => {
    expect(formatFor(accept)).toBe(format);
  });

  it.each([
    { accept: 'application/openmetrics-text', format: 'openmetrics' },
    { accept: 'Application/OpenMetrics-Text; Version="1.0.0"', format: 'openmetrics' },
    { accept: 'application/openmetrics-text;q=0, */*;q=0.1', format: 'text' },
    { accept: 'application/openmetrics-text;q=0.4, text/plain;q=0.5', format: 'text' },
    { accept: 'image/png', format: 'text' },
  ])('is $format for $accept', ({ accept, format }) => {
    expect(formatFor(accept)).toBe(format);
  });
});

describe('any header', () => {
  const part = fc.constantFrom('text/plain', '*/*', 'gzip', 'q', ...Array.from(';,="\\ 2'));

  it('is understood somehow', () => {
    fc.assert(
      fc.property(fc.string({ unit: part }), (header) => {
        expect(['text', 'openmetrics']).toContain(formatFor(header));
        expect([true, false]).toContain(prefersGzip(header));
      }),
    );
  });
});
