// An old Node must be able to read this file: no syntax after ES2019, and no imports.

/** The oldest version of Node that the program runs on, as in package.json. */
const oldest = [20, 18, 1];

/** Empty if the program runs on this version of Node, such as `v20.18.1`; else a sentence for the user. */
export function nodeVersionProblem(version: string, executable: string): string {
  if (!isOlder(version)) return '';
  return (
    `newrelic-exporter needs Node.js ${oldest.join('.')} or newer, but ${executable} is ${version}: ` +
    'install a newer one (https://nodejs.org/en/download), or use the container image'
  );
}

function isOlder(version: string): boolean {
  const parts = version.replace(/^v/, '').split('.').map(Number);
  const different = oldest.findIndex((wanted, index) => wanted !== parts[index]);
  return different !== -1 && Number(parts[different]) < Number(oldest[different]);
}
