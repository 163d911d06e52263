import { describe, expect, it } from 'vitest';
import { maskSecrets, maskSource } from '../../src/config/mask-secrets.ts';

describe('maskSource', () => {
  it.each([
    { name: 'a user key', text: 'x NRAK-ABC y', masked: 'x ******** y' },
    { name: 'a key in lower case', text: 'nrak-abc', masked: '********' },
    { name: 'an admin key', text: 'NRAA-1', masked: '******' },
    { name: 'what follows api_key', text: 'api_key: a b', masked: 'api_key: ***' },
    { name: 'what follows "password"', text: '{"password": x}', masked: '{"password": **' },
    { name: 'credentials of a URL', text: 'http://u:p@ss@h/x', masked: 'http://******@h/x' },
    { name: 'what follows proxy_url', text: 'proxy_url: u:p4ss', masked: 'proxy_url: ******' },
    { name: 'a login in a list', text: 'proxy_url:\n - u:p@h', masked: 'proxy_url:\n - ***@h' },
    { name: 'a login under another key', text: 'x: u:p@h', masked: 'x: ***@h' },
    { name: 'a password of another key', text: 'proxy_password: x', masked: 'proxy_password: *' },
    { name: 'no file', text: 'proxy_url_file: /run/p', masked: 'proxy_url_file: /run/p' },
    {
      name: 'a licence key',
      text: `k ${'0123456789abcdef'.repeat(2)}0123NRAL`,
      masked: `k ${'*'.repeat(40)}`,
    },
    { name: 'a key of digits', text: `k ${'0'.repeat(40)}`, masked: `k ${'*'.repeat(40)}` },
    { name: 'nothing of a file name', text: 'api_key_file: /x', masked: 'api_key_file: /x' },
    { name: 'nothing of a URL', text: 'http://h/x', masked: 'http://h/x' },
  ])('masks $name', ({ text, masked }) => {
    expect(maskSource(text)).toBe(masked);
  });

  it('masks the given spans and keeps lines and length', () => {
    const spans = [
      { start: 8, end: 10 },
      { start: 3, end: 7 },
      { start: 4, end: 6 },
    ];

    expect(maskSource('a: b\ncd efg', spans)).toBe('a: *\n** **g');
  });
});

describe('maskSecrets', () => {
  it('masks keys and credentials, and keeps the words of a message', () => {
    const message = 'the same API key: NRAK-A at https://u:p@h';

    expect(maskSecrets(message)).toBe('the same API key: ****** at https://***@h');
  });
});
