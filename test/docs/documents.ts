import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface TextDocument {
  /** From the project's folder, such as `docs/metrics.md`. */
  readonly path: string;
  readonly text: string;
}

export const projectFolder: string = fileURLToPath(new URL('../../', import.meta.url));

const foreignFolder = /^(?:node_modules|dist.*|coverage|\..*)$/;

export function readDocument(path: string): TextDocument {
  return { path, text: readFileSync(join(projectFolder, path), 'utf8') };
}

/** Every Markdown file of the project. */
export function readDocuments(): readonly TextDocument[] {
  const entries = readdirSync(projectFolder, { withFileTypes: true });
  const paths = entries
    .filter(({ name }) => !foreignFolder.test(name))
    .flatMap((entry) =>
      entry.isDirectory()
        ? readdirSync(join(projectFolder, entry.name), { recursive: true, encoding: 'utf8' }).map(
            (path) => join(entry.name, path),
          )
        : [entry.name],
    );
  return paths
    .filter((path) => path.endsWith('.md'))
    .toSorted()
    .map(readDocument);
}

/** The documents about the product: all but those about test material. */
export function readProductDocuments(): readonly TextDocument[] {
  return readDocuments().filter(({ path }) => !path.startsWith('test/'));
}
