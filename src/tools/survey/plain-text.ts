import { countOf } from '../../model/shown-text.ts';

export type Alignment = 'left' | 'right';

const gap = '  ';

/** Lays out rows in columns, one line for each row; columns without an alignment are left-aligned. */
export function aligned(
  rows: readonly (readonly string[])[],
  alignments: readonly Alignment[] = [],
): readonly string[] {
  const columns = Math.max(0, ...rows.map((row) => row.length));
  const widths = Array.from({ length: columns }, (_, index) =>
    Math.max(...rows.map((row) => row[index]?.length ?? 0)),
  );
  return rows.map((row) =>
    row
      .map((cell, index) => {
        const width = widths[index] ?? 0;
        return alignments[index] === 'right' ? cell.padStart(width) : cell.padEnd(width);
      })
      .join(gap)
      .trimEnd(),
  );
}

export function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => (line === '' ? line : `  ${line}`));
}

/** What becomes of ids that a list left out. */
export function pendingText(count: number): string {
  return `${countOf(count, 'more id')}, of which the daemon asks for ten in each discovery`;
}
