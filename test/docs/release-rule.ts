const kinds = /^\* \[(?:CHANGE|FEATURE|ENHANCEMENT|BUGFIX)\] \S.*\.$/;

/** The version of the newest entry of a changelog; `undefined` without one. */
export function newestVersion(changelog: string): string | undefined {
  return /^## (\d+\.\d+\.\d+) \/ \d{4}-\d{2}-\d{2}$/m.exec(changelog)?.[1];
}

/** Entries that do not say of which kind they are, or are no sentence. */
export function badEntriesOf(changelog: string): readonly string[] {
  return changelog.split('\n').filter((line) => /^\s*[*-] /.test(line) && !kinds.test(line));
}

/** Scripts of npm that a text tells its reader to run. */
export function npmScriptsIn(text: string): readonly string[] {
  return [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = '']) => name);
}
