import { ConfigError, type Diagnostic, renderDiagnostics } from '../config/diagnostic.ts';
import { loadWebConfig } from '../config/load-web-config.ts';
import { CommandError, type Platform } from '../daemon/platform.ts';
import type { WebConfig } from '../model/web-config.ts';
import { findingDocument, findingOf } from './check-finding.ts';
import type { Flags } from './flag-table.ts';
import { countOf, type Outcome } from './one-shot.ts';

/**
 * Checks the web configuration file as well, if one is named: its problems come after those of the
 * configuration, in the same run.
 */
export async function withWebConfig(
  { webConfigFile, output }: Pick<Flags, 'webConfigFile' | 'output'>,
  platform: Platform,
  checkConfig: () => Promise<Outcome>,
): Promise<Outcome> {
  if (webConfigFile === '') return checkConfig();
  const web = await checkedWebConfig(webConfigFile, platform);
  return output === 'json' ? inJson(web, await checkConfig()) : inText(web, platform, checkConfig);
}

/** `config` is only defined if there are no errors. */
interface CheckedWebConfig {
  readonly path: string;
  readonly config: WebConfig | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

async function checkedWebConfig(path: string, platform: Platform): Promise<CheckedWebConfig> {
  try {
    const { config, warnings } = await loadWebConfig(path, platform);
    return { path, config, diagnostics: warnings };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return { path, config: undefined, diagnostics: error.diagnostics };
  }
}

async function inText(
  { path, config, diagnostics }: CheckedWebConfig,
  platform: Platform,
  checkConfig: () => Promise<Outcome>,
): Promise<Outcome> {
  const found = renderDiagnostics(diagnostics);
  if (config === undefined) throw new CommandError(2, await withErrorsBefore(checkConfig, found));
  const { exitCode, output } = await checkConfig();
  platform.stderr.write(found === '' ? '' : `${found}\n`);
  const tls = config.tls === undefined ? 'no TLS' : 'TLS';
  const counts = `${countOf(config.users.size, 'user')}, ${countOf(diagnostics.length, 'warning')}`;
  return { exitCode, output: `${output}${path}: ok, ${tls}, ${counts}\n` };
}

/** The errors of the configuration, and those of the web configuration after them. */
async function withErrorsBefore(
  checkConfig: () => Promise<Outcome>,
  found: string,
): Promise<string> {
  try {
    await checkConfig();
    return found;
  } catch (error) {
    if (error instanceof CommandError) return `${error.message}\n${found}`;
    throw error;
  }
}

/** The document of the configuration, with one of the web configuration in it. */
function inJson({ path, config, diagnostics }: CheckedWebConfig, main: Outcome): Outcome {
  const document: unknown = JSON.parse(main.output);
  const numberOf = (wanted: Diagnostic['severity']): number =>
    diagnostics.filter(({ severity }) => severity === wanted).length;
  const web = {
    file: path,
    ok: config !== undefined,
    errors: numberOf('error'),
    warnings: numberOf('warning'),
    findings: diagnostics.map((diagnostic) => {
      const { severity, message, help: remedy } = diagnostic;
      return findingDocument(findingOf('file', severity, message, { remedy, place: diagnostic }));
    }),
  };
  const both = { ...Object(document), web_config: web };
  return {
    exitCode: config === undefined ? 2 : main.exitCode,
    output: `${JSON.stringify(both, undefined, 2)}\n`,
  };
}
