import { loadForCommand, renderWarnings } from '../cli/command-config.ts';
import { type Flags, flagTable } from '../cli/flag-table.ts';
import { compileConfig } from '../config/build-config.ts';
import { parseConfig } from '../config/load-config.ts';
import type { ToolPlatform } from '../daemon/platform.ts';
import type { Config } from '../model/config.ts';

/** For users without a configuration: one account, with the key in the usual variable. */
const withoutFile = 'apps: [{ match: "." }]';

/** The configuration; without a file at the usual place, that of one account with the usual key. */
export async function configOrKey(
  { configFile }: Pick<Flags, 'configFile'>,
  platform: ToolPlatform,
): Promise<Config> {
  if (configFile === flagTable.configFile.defaultText && (await isAbsent(configFile, platform))) {
    const parsed = await parseConfig(withoutFile, { fileName: configFile, directory: '/' });
    return compileConfig(parsed.config, platform);
  }
  const { config, warnings } = await loadForCommand(configFile, platform);
  platform.stderr.write(renderWarnings(warnings));
  return config;
}

async function isAbsent(path: string, { readFile }: ToolPlatform): Promise<boolean> {
  try {
    await readFile(path);
    return false;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT';
  }
}
