import { loadForCommand, renderWarnings } from '../cli/command-config.ts';
import { type Flags, flagTable } from '../cli/flag-table.ts';
import { parseConfig } from '../config/load-config.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import type { Config } from '../model/config.ts';

/** For users without a configuration: one account, with the key in the usual variable. */
const withoutFile = 'apps: [{ match: "." }]';

/**
 * The configuration; without a file at the usual place, that of one account with the usual key. It has an
 * entry, if only of no account: one of queries alone has none that says how to ask for values.
 */
export async function configOrKey(
  { configFile }: Pick<Flags, 'configFile'>,
  platform: ToolPlatform,
): Promise<Config> {
  const source = { fileName: configFile, directory: '/' };
  const { config: usual } = await parseConfig(withoutFile, source, platform);
  const isUsual = configFile === flagTable.configFile.defaultText;
  if (isUsual && (await isAbsent(configFile, platform))) return usual;
  const { config, warnings } = await loadForCommand(configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  return config.apps.length > 0 ? config : { ...config, apps: usual.apps };
}

async function isAbsent(path: string, { readFile }: ToolPlatform): Promise<boolean> {
  try {
    await readFile(path);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}
