import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildOf } from '../../src/daemon/build.ts';

describe('the version', () => {
  it("is the package's", () => {
    const path = new URL('../../package.json', import.meta.url);

    const manifest: unknown = JSON.parse(readFileSync(path, 'utf8'));

    expect(manifest).toMatchObject({ version: buildOf({}).version });
  });

  it.each([
    { env: {}, revision: 'unknown' },
    { env: { NEWRELIC_EXPORTER_REVISION: '' }, revision: 'unknown' },
    { env: { NEWRELIC_EXPORTER_REVISION: 'abc1234\n' }, revision: 'abc1234' },
  ])('has the revision $revision with $env', ({ env, revision }) => {
    expect(buildOf(env)).toEqual({
      version: expect.any(String),
      revision,
      nodeVersion: process.version,
      platform: `${process.platform}/${process.arch}`,
    });
  });
});
