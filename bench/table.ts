/** One line of the table. */
export interface Row {
  /** The goal of the project that it belongs to, such as `P1`. */
  readonly goal: string;
  readonly what: string;
  readonly unit: string;
  readonly digits?: number;
  /** Of this build, and of the other one if there is one; `undefined`: it cannot be measured there. */
  readonly values: readonly (number | undefined)[];
  /** Something else that does the same, measured in the same run, or what theory allows. */
  readonly peer?: { readonly name: string; readonly value: number };
  /** The most that the value may be; with a peer, the most that its ratio to the peer may be. */
  readonly limit?: number;
  /** The least that the value may be. */
  readonly least?: number;
}

export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((left, right) => left - right);
  const at = (index: number): number => sorted[index] ?? Number.NaN;
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2;
}

function ratioOf({ values: [ours], peer, limit, least }: Row): number | undefined {
  const against = peer?.value ?? limit ?? least ?? 0;
  return ours === undefined || against === 0 ? undefined : ours / against;
}

/** The goal as text, and whether it is reached. */
function goalOf(row: Row): readonly [goal: string, within: string] {
  const { values, peer, limit, least, unit } = row;
  const [ours = Number.NaN] = values;
  if (least !== undefined) return [`>= ${least} ${unit}`.trim(), ours >= least ? 'yes' : 'NO'];
  if (limit === undefined) return ['', ''];
  return peer === undefined
    ? [`<= ${limit} ${unit}`.trim(), ours <= limit ? 'yes' : 'NO']
    : [`<= ${limit}`, (ratioOf(row) ?? Number.NaN) <= limit ? 'yes' : 'NO'];
}

function cellsOf(row: Row): readonly string[] {
  const { goal, what, unit, digits = 1, values, peer } = row;
  const show = (value: number | undefined): string =>
    value === undefined ? 'n/a' : `${value.toFixed(digits)} ${unit}`.trim();
  const ratio = ratioOf(row);
  return [
    goal,
    what,
    ...values.map(show),
    peer === undefined ? '' : `${peer.name} ${show(peer.value)}`,
    ratio === undefined ? '' : ratio.toFixed(ratio < 0.1 ? 3 : 2),
    ...goalOf(row),
  ];
}

/** All rows as one table in Markdown, in columns that also read well as text. */
export function tableOf(rows: readonly Row[], buildNames: readonly string[]): string {
  const head = ['', 'what', ...buildNames, 'peer', 'ratio', 'goal', 'within'];
  const all = [head, ...rows.map(cellsOf)];
  const widths = head.map((_, column) =>
    Math.max(3, ...all.map((cells) => (cells[column] ?? '').length)),
  );
  const lineOf = (cells: readonly string[]): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width)).join(' | ')} |`;
  const rule = `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`;
  return [lineOf(head), rule, ...all.slice(1).map(lineOf), ''].join('\n');
}
