import { describe, expect, it } from 'vitest';
import { ListenError, listenErrorOf, parseListenAddress } from '../../src/web/listen-address.ts';

describe('parseListenAddress', () => {
  it.each([
    { text: ':9126', host: undefined, port: 9126 },
    { text: '127.0.0.1:0', host: '127.0.0.1', port: 0 },
    { text: '[::1]:9126', host: '::1', port: 9126 },
    { text: '[fe80::1%eth0]:80', host: 'fe80::1%eth0', port: 80 },
    { text: 'localhost:9126', host: 'localhost', port: 9126 },
  ])('reads $text', ({ text, host, port }) => {
    expect(parseListenAddress(text)).toEqual({ host, port });
  });

  it.each([
    { text: '' },
    { text: '9126' },
    { text: 'localhost' },
    { text: 'localhost:' },
    { text: '::1:9126' },
    { text: '[::1]' },
    { text: ':http' },
    { text: ':65536' },
    { text: ' :9126' },
  ])('refuses "$text" with a message that names it and shows what to write', ({ text }) => {
    const parse = (): unknown => parseListenAddress(text);

    expect(parse).toThrow(ListenError);
    expect(parse).toThrow(`Cannot listen on "${text}": `);
    expect(parse).toThrow('Write for example ":9126"');
  });
});

describe('listenErrorOf', () => {
  it.each([
    { code: 'EADDRINUSE', remedy: 'choose another port' },
    { code: 'EACCES', remedy: 'Choose a port above 1023' },
    { code: 'EADDRNOTAVAIL', remedy: 'Choose an address of this machine' },
  ])('says what to do about $code', ({ code, remedy }) => {
    const error = listenErrorOf('10.0.0.1:80', Object.assign(new Error('the cause'), { code }));

    expect(error.message).toContain('"10.0.0.1:80"');
    expect(error.message).toContain(remedy);
  });
});
