import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCaFile } from '../../src/config/named-file.ts';

const good = readFileSync(
  new URL('../newrelic/calls/fixtures/test-only-certificate.pem', import.meta.url),
  'utf8',
);

async function read(text: string | undefined): Promise<string> {
  return readCaFile('/etc/ca.pem', {
    readFile: async () => {
      if (text === undefined) throw Object.assign(new Error('no'), { code: 'EISDIR' });
      return new TextEncoder().encode(text);
    },
  });
}

describe('readCaFile', () => {
  it('accepts a bundle of certificates, with text between them', async () => {
    const bundle = `# ours\n${good}\n# and again\n${good}`;

    expect(await read(bundle)).toBe(bundle);
  });

  it('accepts comments in another encoding', async () => {
    const bytes = Buffer.concat([Buffer.from([0x23, 0xe9, 0x0a]), Buffer.from(good)]);

    const text = await readCaFile('/etc/ca.pem', { readFile: async () => bytes });

    expect(text).toContain(good);
  });

  it.each([
    { what: 'a directory', text: undefined, says: 'is a directory: create it' },
    { what: 'an empty file', text: '', says: 'holds no certificate that can be read' },
    { what: 'anything else', text: 'hello', says: 'holds no certificate that can be read' },
    {
      what: 'a broken certificate beside a good one',
      text: `${good}\n${good.replace(/\n[A-Za-z0-9+/]{20}/u, '\nAAAAAAAAAAAAAAAAAAAA')}`,
      says: 'has a broken certificate, number 2 of 2',
    },
    {
      what: 'a certificate whose end is missing',
      text: `${good.replace('-----END CERTIFICATE-----', '')}\n${good}`,
      says: 'has a broken certificate, number 1 of 2',
    },
  ])('refuses $what, and names the file', async ({ text, says }) => {
    await expect(read(text)).rejects.toThrow(`the CA file /etc/ca.pem ${says}`);
  });
});
