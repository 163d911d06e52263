import { describe, expect, it } from 'vitest';
import type { AccountSource, PollConfig } from '../../src/model/config.ts';
import type { ApplicationSpec } from '../../src/simulator/fleet-options.ts';
import { anEntry } from '../support/builders.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { pagePolledOnce } from './polled-once.ts';

/** Values by series; labels in the order of their names. */
type Series = ReadonlyMap<string, number>;

const byRest: AccountSource = { kind: 'rest', accountId: undefined };
const byNerdGraph: AccountSource = { kind: 'nerdgraph', accountId: 1_234_567 };

const applications: readonly ApplicationSpec[] = [
  {
    id: 101,
    name: 'shop',
    kind: 'web',
    webRpm: 1234.5,
    hosts: [
      { id: 11, name: 'a' },
      { id: 12, name: 'b' },
    ],
  },
  {
    id: 102,
    name: 'worker "nightly"',
    kind: 'other',
    otherRpm: 67,
    hosts: [{ id: 21, name: 'a' }],
  },
  {
    id: 103,
    name: 'both',
    kind: 'both',
    webRpm: 9.7,
    otherRpm: 31_415.9,
    hosts: [{ id: 31, name: "o'c" }],
  },
  { id: 104, name: 'silent', kind: 'not_reporting', hosts: 1 },
  { id: 105, name: 'idle', kind: 'idle', hosts: [{ id: 51, name: 'i' }] },
  {
    id: 106,
    name: 'twins',
    kind: 'web',
    webRpm: 77,
    hosts: [
      { id: 61, name: 't' },
      { id: 62, name: 't' },
    ],
  },
  {
    id: 107,
    name: 'red',
    kind: 'web',
    webRpm: 0.4,
    healthStatus: 'red',
    hosts: [{ id: 71, name: 'r' }],
  },
  { id: 108, name: 'orange', kind: 'web', webRpm: 5, healthStatus: 'orange', hosts: 3 },
  { id: 109, name: 'unknown', kind: 'web', webRpm: 5, healthStatus: 'unknown', hosts: 0 },
];

/** What one poll of everything publishes of New Relic's data. */
async function pageOf(source: AccountSource, poll: Partial<PollConfig>): Promise<Series> {
  const entry = anEntry({ labels: { team: 'a' }, poll: { hostNames: true, ...poll } });
  const families = parseExposition(await pagePolledOnce(source, entry, applications));
  return new Map(
    families.flatMap(({ samples }) =>
      samples.map(({ name, labels, value }): [string, number] => [
        `${name}{${labels
          .map((label) => label.join('='))
          .toSorted()
          .join(',')}}`,
        value,
      ]),
    ),
  );
}

/** The series without the ids of hosts; hosts with the same name are one, with the sum. */
function withoutHostIds(series: Series): Series {
  const sums = new Map<string, number>();
  for (const [key, value] of series) {
    const short = key.replace(/,host_id=[^,]*/u, '');
    sums.set(short, (sums.get(short) ?? 0) + value);
  }
  return sums;
}

interface Difference {
  readonly series: string;
  readonly rest: number | undefined;
  readonly nerdgraph: number | undefined;
}

function differencesOf(left: Series, right: Series): readonly Difference[] {
  const keys = [...new Set([...left.keys(), ...right.keys()])].toSorted();
  return keys.flatMap((series) => {
    const difference = { series, rest: left.get(series), nerdgraph: right.get(series) };
    return difference.rest === difference.nerdgraph ? [] : [difference];
  });
}

/** A difference that docs/nerdgraph.md names. */
interface KnownDifference {
  readonly what: string;
  readonly explains: (difference: Difference) => boolean;
}

function familyOf({ series }: Difference): string {
  return /^newrelic_(?:application_)?([a-z_]+)/u.exec(series)?.[1] ?? series;
}

function isRounded(exact: number | undefined, shown: number | undefined, unit: number): boolean {
  return exact !== undefined && shown !== undefined && Math.abs(exact - shown) <= unit / 2 + 1e-9;
}

/** Half a unit of the third digit, as New Relic rounds. */
function isRoundedToThreeDigits({ rest, nerdgraph }: Difference): boolean {
  if (nerdgraph === undefined || nerdgraph === 0) return false;
  return isRounded(nerdgraph, rest, 10 ** (Math.floor(Math.log10(nerdgraph)) - 2));
}

const inAnyCase: readonly KnownDifference[] = [
  {
    what: 'NerdGraph does not say when an application last reported',
    explains: (one) =>
      familyOf(one) === 'last_reported_timestamp_seconds' && one.nerdgraph === undefined,
  },
  {
    what: 'the unit of the error rate is not documented',
    explains: (one) => familyOf(one) === 'summary_error_ratio' && one.nerdgraph === undefined,
  },
  {
    what: 'the summary is not rounded',
    explains: (one) =>
      (familyOf(one) === 'summary_requests_per_minute' && isRoundedToThreeDigits(one)) ||
      (familyOf(one) === 'summary_apdex_score' && isRounded(one.nerdgraph, one.rest, 0.01)),
  },
  {
    what: 'the throughput of the summary may be that of all transactions',
    explains: (one) =>
      familyOf(one) === 'summary_requests_per_minute' && one.series.includes('app_name=both'),
  },
  {
    what: 'hosts with the same name are one',
    explains: (one) =>
      familyOf(one) === 'hosts' && one.series.includes('app_name=twins') && one.nerdgraph === 1,
  },
  {
    what: 'a silent application has no number of instances',
    explains: (one) =>
      familyOf(one) === 'instances' && one.series.includes('app_name=silent') && one.rest === 0,
  },
  {
    what: 'what had no transactions since the exporter started has no value instead of 0',
    explains: ({ series, rest, nerdgraph }) =>
      /requests_per_minute\{.*app_name=idle/u.test(series) && rest === 0 && nerdgraph === undefined,
  },
];

const rounding: KnownDifference = {
  what: 'REST rounds to three digits unless the entry says raw',
  explains: (one) =>
    ['requests_per_minute', 'host_requests_per_minute'].includes(familyOf(one)) &&
    !one.series.includes('app_name=twins') &&
    isRoundedToThreeDigits(one),
};

/** The sum of two rounded values is off by both. */
const roundedTwins: KnownDifference = {
  what: 'the sum over hosts with the same name is that of rounded values',
  explains: ({ series, rest, nerdgraph }) =>
    /requests_per_minute\{.*app_name=twins/u.test(series) && isRounded(nerdgraph, rest, 0.2),
};

describe('the page of the same account', () => {
  it.each([
    { what: 'raw values of REST', raw: true, known: inAnyCase },
    { what: 'rounded values of REST', raw: false, known: [...inAnyCase, rounding, roundedTwins] },
  ])('differs from that of NerdGraph only as documented: $what', async ({ raw, known }) => {
    const [left, right] = [await pageOf(byRest, { raw }), await pageOf(byNerdGraph, {})];
    const differences = differencesOf(withoutHostIds(left), withoutHostIds(right));
    const unexplained = differences.filter((one) => !known.some(({ explains }) => explains(one)));
    const unused = known.filter(({ explains }) => !differences.some(explains));

    expect(unexplained).toEqual([]);
    expect(unused.map(({ what }) => what)).toEqual([]);
    expect(left.size).toBeGreaterThan(100);
  });

  it('has numbers as ids of hosts with REST, and their names with NerdGraph', async () => {
    const ids = async (source: AccountSource): Promise<readonly (readonly string[])[]> =>
      [...(await pageOf(source, {})).keys()].flatMap((key) => {
        const match = /,host_id=([^,]*),host_name=([^,]*)/u.exec(key);
        return match === null ? [] : [match.slice(1)];
      });
    const [left, right] = [await ids(byRest), await ids(byNerdGraph)];

    expect(left.every(([id]) => /^\d+$/u.test(id ?? ''))).toBe(true);
    expect(right.every(([id, name]) => id === name)).toBe(true);
    expect(right.length).toBeGreaterThan(8);
  });

  it('is the same with NerdGraph whether the entry says raw or not', async () => {
    expect(await pageOf(byNerdGraph, { raw: true })).toEqual(
      await pageOf(byNerdGraph, { raw: false }),
    );
  });

  it('would not be taken for the same if a value were another one', async () => {
    const series = 'newrelic_application_requests_per_minute{app_name=shop}';
    const wrong = { series, rest: 858, nerdgraph: 860 };

    expect([...inAnyCase, rounding, roundedTwins].some(({ explains }) => explains(wrong))).toBe(
      false,
    );
  });
});

it.each([
  ['in small letters', 'Shop-1', 'shop-1'],
  ['with a quote', "o'clock", "o'clock"],
  ['with a backslash at its end', 'dc\\', 'dc\\'],
])(
  'the host of this process is found with NerdGraph, and no other, though its name is spelt %s',
  async (_, own, spelt) => {
    const hosts = [{ name: spelt }, { name: 'shop-2' }];
    const fleet = [{ id: 101, name: 'shop', kind: 'web', webRpm: 120, hosts }] as const;
    const entry = anEntry({ hosts: { kind: 'self', names: [own] }, poll: { hostNames: true } });
    const page = parseExposition(await pagePolledOnce(byNerdGraph, entry, fleet));

    const name = 'newrelic_application_host_requests_per_minute';
    const samples = page.flatMap((family) => family.samples.filter((one) => one.name === name));
    expect(samples.map(({ labels }) => new Map(labels).get('host_name'))).toEqual([spelt]);
  },
);
