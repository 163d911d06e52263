import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectFolder, readProductDocuments } from './documents.ts';

const folder = join(projectFolder, 'docs/images');
const texts = readProductDocuments().map(({ text }) => text);

describe('docs/images', () => {
  it.each(readdirSync(folder))('%s is used, and below 150 kB', (name) => {
    expect(texts.filter((text) => text.includes(`images/${name})`))).not.toEqual([]);
    expect(statSync(join(folder, name)).size).toBeLessThan(150_000);
  });
});
