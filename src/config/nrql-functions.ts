/** What a function of NRQL gives in an answer. */
interface NrqlFunction {
  readonly gives: 'number' | 'percentiles' | 'apdex' | 'never';
  /** Whether a longer window gives more; of some, what they are of decides. */
  readonly grows: boolean | 'argument';
  /** What to write in place of one that never gives a number. */
  readonly instead: string;
}

type Row = readonly [string, NrqlFunction['gives'], NrqlFunction['grows'], instead?: string];

const rows: readonly Row[] = [
  ['count sum uniqueCount cardinality bytecountestimate', 'number', true],
  ['average min max latest earliest latestRate rate derivative predictLinear', 'number', false],
  ['percentage stddev stdvar correlation aggregationEndTime', 'number', false],
  [
    'filter if abs ceil floor round clamp_max clamp_min exp ln log log2 log10',
    'number',
    'argument',
  ],
  ['mod pow sqrt numeric boolean length getField getCdfCount convert jparse', 'number', 'argument'],
  ['position indexOf lookup accountId toTimestamp fromDatetime', 'number', 'argument'],
  ['minuteOf hourOf dayOfMonthOf weekOf quarterOf yearOf', 'number', 'argument'],
  ['percentile median bucketPercentile histogramPercentile', 'percentiles', false],
  ['apdex', 'apdex', false],
  ['histogram heatmap', 'never', false, 'percentile(...), or count(*) with FACET buckets(...)'],
  ['cdfPercentage', 'never', false, 'percentage(count(*), WHERE ...) for each threshold'],
  ['uniques tuple mapKeys mapValues', 'never', false, 'uniqueCount(...), or count(*) with FACET'],
  ['keyset dimensions', 'never', false, 'uniqueCount(...), or count(*) with FACET'],
  ['funnel', 'never', false, 'filter(uniqueCount(...), WHERE ...) for each step'],
  ['eventType', 'never', false, 'count(*) with FACET eventType()'],
  ['capture aparse', 'never', false, 'sum(numeric(...)), or count(*) with the text in FACET'],
  ['concat string lower upper substring', 'never', false, 'count(*) with the text in FACET'],
  ['encode decode blob cidrAddress', 'never', false, 'count(*) with the text in FACET'],
  ['toDatetime fromTimestamp dateOf monthOf', 'never', false, 'count(*) with the text in FACET'],
  ['weekdayOf', 'never', false, 'count(*) with the text in FACET'],
];

const functions: ReadonlyMap<string, NrqlFunction> = new Map(
  rows.flatMap(([names, gives, grows, instead = '']) =>
    names.split(' ').map((name) => [name.toLowerCase(), { gives, grows, instead }] as const),
  ),
);

/** What is not in the table is taken for a number, and to be safe for one that grows. */
export function functionOf(name: string): NrqlFunction {
  return functions.get(name.toLowerCase()) ?? { gives: 'number', grows: true, instead: '' };
}
