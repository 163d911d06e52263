import type { BuildInfo } from '../model/status.ts';

/** The program's version; a test compares it with the package's. */
const version = '0.1.0';

/** Which program is running, and on what. */
export interface Build extends BuildInfo {
  /** Such as `linux/x64`. */
  readonly platform: string;
}

/** The build of this process. The image's build puts the commit into `NEWRELIC_EXPORTER_REVISION`. */
export function buildOf(env: Readonly<Record<string, string | undefined>>): Build {
  const revision = env['NEWRELIC_EXPORTER_REVISION']?.trim() ?? '';
  return {
    version,
    revision: revision === '' ? 'unknown' : revision,
    nodeVersion: process.version,
    platform: `${process.platform}/${process.arch}`,
  };
}

/** The answer to `--version`, in the form that Prometheus' own programs use. */
export function versionText(build: Build): string {
  return [
    `newrelic-exporter, version ${build.version} (revision: ${build.revision})`,
    `  node version:     ${build.nodeVersion}`,
    `  platform:         ${build.platform}`,
    '',
  ].join('\n');
}
