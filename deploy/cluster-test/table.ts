/** One line of the result. */
export interface Row {
  readonly name: string;
  /** How the sidecar stands in the pod, or with which Helm a chart was installed. */
  readonly form: string;
  /** State of the exporter's container at the end of the case. */
  readonly exporter?: string;
  readonly hostReady?: string;
  readonly podReady?: string;
  readonly endpoint?: string;
  /** What else was seen or measured. */
  readonly seen?: string;
  readonly passed: boolean;
}

/** The rows of one group of cases. */
export interface Table {
  add(row: Row): void;
  /** Rows of one name beside each other. */
  rows(): readonly Row[];
}

const headings = [
  'case',
  'form',
  "exporter's container",
  'main container',
  'pod Ready',
  "endpoint of the application's Service",
  'seen',
  'verdict',
];

function cellsOf(row: Row): readonly string[] {
  const cells = [
    row.name,
    row.form,
    row.exporter,
    row.hostReady,
    row.podReady,
    row.endpoint,
    row.seen,
  ];
  return [...cells.map((cell) => cell ?? ''), row.passed ? 'ok' : '**FAILED**'];
}

const lineOf = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

/** Every row is told as soon as it is there, since the last takes its time. */
export function createTable(onRow: (line: string) => void): Table {
  const rows: Row[] = [];
  return {
    add: (row) => {
      rows.push(row);
      onRow(lineOf(cellsOf(row)));
    },
    rows: () => {
      const names = [...new Set(rows.map(({ name }) => name))];
      return names.flatMap((name) => rows.filter((row) => row.name === name));
    },
  };
}

/** As a table of Markdown. */
export function renderRows(rows: readonly Row[]): string {
  const head = [lineOf(headings), lineOf(headings.map(() => '---'))];
  return [...head, ...rows.map((row) => lineOf(cellsOf(row)))].join('\n');
}
