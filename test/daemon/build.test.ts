import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildOf, versionText } from '../../src/daemon/build.ts';

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

  it("is shown in the form of Prometheus' programs", () => {
    const build = {
      version: '0.1.0',
      revision: 'abc1234',
      nodeVersion: 'v24.4.1',
      platform: 'linux/x64',
    };

    expect(versionText(build)).toBe(
      'newrelic-exporter, version 0.1.0 (revision: abc1234)\n' +
        '  node version:     v24.4.1\n' +
        '  platform:         linux/x64\n',
    );
  });
});
