import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { subjectAltNamesOf } from '../../src/server/tls-listener.ts';
import { tlsText } from '../support/tls-files.ts';

describe('subjectAltNamesOf', () => {
  it('reads names of every kind, addresses in their shortest form', () => {
    expect(subjectAltNamesOf(new X509Certificate(tlsText('client')))).toEqual([
      'prometheus.example',
      '2001:db8::1',
      'sre@example.org',
      'spiffe://example.org/prometheus',
    ]);
  });

  it('finds none in a certificate without names', () => {
    expect(subjectAltNamesOf(new X509Certificate(tlsText('ca')))).toEqual([]);
  });

  it.each([
    {
      what: 'a name that looks like two',
      subjectAltName: 'DNS:"evil.example, DNS:good.example"',
      names: ['evil.example, DNS:good.example'],
    },
    {
      what: 'names of other kinds',
      subjectAltName: 'DirName:CN=good.example, othername:<unsupported>, DNS:a.example',
      names: ['a.example'],
    },
    { what: 'an IPv4 address', subjectAltName: 'IP Address:10.0.0.1', names: ['10.0.0.1'] },
  ])('is not deceived by $what', ({ subjectAltName, names }) => {
    expect(subjectAltNamesOf({ subjectAltName })).toEqual(names);
  });
});
