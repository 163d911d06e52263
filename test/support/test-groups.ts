/** What `npm test` runs is `quick`; `npm run test:all` runs all groups. */
export type GroupName = 'quick' | 'long' | 'programs';

export interface TestGroup {
  readonly name: GroupName;
  /** What its files are, and why they are apart. */
  readonly what: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

const long = ['test/**/*.long.test.ts'];
const programs = ['test/**/*.program.test.ts'];

/** The group of a test file. */
export function groupOf(path: string): GroupName {
  if (path.endsWith('.program.test.ts')) return 'programs';
  return path.endsWith('.long.test.ts') ? 'long' : 'quick';
}

/** Every test file is in exactly one group, by its name. */
export const testGroups: readonly TestGroup[] = [
  {
    name: 'quick',
    what: 'all other files',
    include: ['test/**/*.test.ts'],
    exclude: [...long, ...programs],
  },
  {
    name: 'long',
    what: '*.long.test.ts: simulated hours, full memories, dozens of processes, a browser',
    include: long,
    exclude: [],
  },
  {
    name: 'programs',
    what: '*.program.test.ts: they run helm, Prometheus, buildah and others',
    include: programs,
    exclude: [],
  },
];
