/** As much of Markdown as the documents of this project use. */

export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

export interface CodeBlock {
  readonly language: string;
  /** Without the indentation of the block. */
  readonly text: string;
}

const fence = /^( *)```(\w*)\n([\s\S]*?)^\1```$/gm;

export function codeBlocksIn(text: string): readonly CodeBlock[] {
  return [...text.matchAll(fence)].map(([, indent = '', language = '', body = '']) => ({
    language,
    text: body.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  }));
}

export function withoutCodeBlocks(text: string): string {
  return text.replaceAll(fence, '');
}

export interface Heading {
  readonly level: number;
  /** As it is written, code marks included. */
  readonly title: string;
}

export function headingsIn(text: string): readonly Heading[] {
  return [...withoutCodeBlocks(text).matchAll(/^(#+) (.+)$/gm)].map(
    ([, marks = '', title = '']) => ({ level: marks.length, title }),
  );
}

/** What stands below a heading, up to the next one of its level or above. Throws without it. */
export function sectionOf(text: string, title: string): string {
  const lines = text.split('\n');
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === title);
  if (start === -1) throw new Error(`There is no section "${title}"`);
  const level = /^#+/.exec(lines[start] ?? '')?.[0].length ?? 0;
  const below = lines.slice(start + 1);
  const end = below.findIndex((line) => new RegExp(`^#{1,${level}} `).test(line));
  return below.slice(0, end === -1 ? undefined : end).join('\n');
}

function cellsOf(line: string): readonly string[] {
  return line
    .replaceAll(/^\||\|$/g, '')
    .split('|')
    .map((cell) => cell.trim());
}

export function tablesIn(text: string): readonly Table[] {
  const blocks = withoutCodeBlocks(text).match(/(?:^\|.*\|$\n?)+/gm) ?? [];
  return blocks.map((block) => {
    const [header = [], , ...rows] = block.trimEnd().split('\n').map(cellsOf);
    return { header, rows };
  });
}

/** The words in backticks. */
export function codeWordsIn(cell: string): readonly string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word);
}

/** The rows of every table that has these columns, with the cells of the columns. */
export function rowsWith<Column extends string>(
  text: string,
  columns: readonly Column[],
): readonly Readonly<Record<Column, string>>[] {
  return tablesIn(text)
    .filter(({ header }) => columns.every((column) => header.includes(column)))
    .flatMap(({ header, rows }) =>
      rows.map(
        (row) =>
          Object.fromEntries(
            columns.map((column) => [column, row[header.indexOf(column)] ?? '']),
          ) as Record<Column, string>,
      ),
    );
}
