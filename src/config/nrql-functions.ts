/** What a function of NRQL gives in an answer. */
export interface NrqlFunction {
  readonly gives: 'number' | 'percentiles' | 'apdex' | 'never';
  /** Whether a longer window gives more: `argument` where what it is of decides. */
  readonly grows: boolean | 'argument';
  /** What to write in place of one that never gives a number. */
  readonly instead?: string;
}

type Row = readonly [names: string, given: NrqlFunction['gives'], grows: boolean | 'argument'];

const rows: readonly Row[] = [
  ['count sum uniqueCount cardinality bytecountestimate', 'number', true],
  ['average min max latest earliest latestRate rate derivative predictLinear', 'number', false],
  ['percentage stddev stdvar correlation aggregationendtime', 'number', false],
  ['percentile median bucketPercentile histogramPercentile', 'percentiles', false],
  ['apdex', 'apdex', false],
  // Functions of one value.
  [
    'filter if abs ceil floor round clamp_max clamp_min exp ln log log2 log10',
    'number',
    'argument',
  ],
  ['mod pow sqrt numeric boolean length getField getCdfCount convert jparse', 'number', 'argument'],
  ['position indexOf lookup accountId toTimestamp fromDatetime', 'number', 'argument'],
  ['minuteOf hourOf dayOfMonthOf weekOf quarterOf yearOf', 'number', 'argument'],
];

const never: readonly (readonly [names: string, instead: string])[] = [
  ['histogram heatmap', 'percentile(...), or count(*) with FACET buckets(...)'],
  ['cdfPercentage', 'percentage(count(*), WHERE ...) for each threshold'],
  ['uniques tuple mapKeys mapValues', 'uniqueCount(...), or count(*) with FACET'],
  ['keyset dimensions', 'uniqueCount(...) or count(*), with FACET'],
  ['funnel', 'filter(uniqueCount(...), WHERE ...) for each step'],
  ['eventType', 'count(*) with FACET eventType()'],
  ['concat string lower upper substring replace trim', 'count(*) with the text in FACET'],
  ['capture aparse', 'numeric(...) in a function such as sum(...), or count(*) with FACET'],
  ['encode decode blob cidrAddress', 'count(*) with the text in FACET'],
  ['toDatetime fromTimestamp dateOf monthOf weekdayOf', 'count(*) with the text in FACET'],
];

function each<Value>(names: string, value: Value): readonly (readonly [string, Value])[] {
  return names
    .toLowerCase()
    .split(' ')
    .map((name) => [name, value] as const);
}

const functions: ReadonlyMap<string, NrqlFunction> = new Map([
  ...rows.flatMap(([names, gives, grows]) => each<NrqlFunction>(names, { gives, grows })),
  ...never.flatMap(([names, instead]) =>
    each<NrqlFunction>(names, { gives: 'never', grows: false, instead }),
  ),
]);

/** What is not in the table is taken for a number, and for one that grows: nothing is missed so. */
export function functionOf(name: string): NrqlFunction {
  return functions.get(name.toLowerCase()) ?? { gives: 'number', grows: true };
}
