import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { labelValueOf } from '../../src/model/label-value.ts';
import { type AppSnapshot, throughputIn } from '../../src/model/snapshot.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { anApplication, aReading, aSnapshot, aStore } from './builders.ts';

const garbage = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom('\u0000', '\u0001', '\n', '"', '\\', '\uD83D', '\uDE00', '\u202E', 'a'),
    maxLength: 6,
  }),
  fc.constantFrom('x'.repeat(300), `${'x'.repeat(300)}y`, '{}', '# TYPE x gauge', ''),
);
const anyNumber = fc.oneof(
  fc.double(),
  fc.nat(),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY),
);
const throughput = fc.tuple(
  fc.option(anyNumber, { nil: undefined }),
  fc.option(anyNumber, { nil: undefined }),
);
const reading = fc
  .record({
    application: throughput,
    hosts: fc.array(fc.tuple(garbage, throughput), { maxLength: 6 }),
    windowEndMs: fc.option(anyNumber, { nil: undefined }),
  })
  .map(({ hosts, ...rest }) => aReading({ ...rest, hosts: new Map(hosts) }));

const anySnapshot: fc.Arbitrary<AppSnapshot> = fc
  .record({
    account: garbage,
    id: garbage,
    name: garbage,
    language: fc.option(garbage, { nil: undefined }),
    healthStatus: fc.option(garbage, { nil: undefined }),
    team: garbage,
    hostNames: fc.array(fc.tuple(garbage, garbage), { maxLength: 6 }),
    reading: fc.option(reading, { nil: undefined }),
    pollSucceeded: fc.option(fc.boolean(), { nil: undefined }),
    lastSuccessMs: fc.option(anyNumber, { nil: undefined }),
  })
  .map(({ id, name, language, healthStatus, team, hostNames, ...rest }) =>
    aSnapshot({
      ...rest,
      application: anApplication({ id, name, language, healthStatus }),
      labels: { team },
      hostNames: new Map(hostNames),
    }),
  );

/** The label texts and the value of every throughput sample, by the contract. */
function expectedThroughput(snapshot: AppSnapshot): ReadonlyMap<string, number> {
  const expected = new Map<string, number>();
  const { account, application, labels } = snapshot;
  const add = (own: readonly string[], type: string, value: number): void => {
    const texts = [account, application.id, application.name, ...own, type, labels['team'] ?? ''];
    const key = JSON.stringify(texts.map(labelValueOf));
    // The text format has no sign of zero.
    if (Number.isFinite(value) && !expected.has(key)) expected.set(key, value + 0);
  };
  const { reading: shown } = snapshot;
  for (const [type, value] of throughputIn(shown)) add([], type, value);
  for (const id of shown?.hosts.keys() ?? []) {
    const name = snapshot.hostNames.get(id) ?? '';
    for (const [type, value] of throughputIn(shown, id))
      add([id, name === '' ? id : name], type, value);
  }
  return expected;
}

describe('the page', () => {
  it('gives back the cleaned labels and the values of every snapshot, all of them finite, in families that have some', async () => {
    await fc.assert(
      fc.asyncProperty(anySnapshot, async (snapshot) => {
        const store = aStore();
        store.publish(snapshot);

        const families = parseExposition(Buffer.concat((await store.page()).identity));

        const samples = families.flatMap((family) => family.samples);
        expect(samples).toHaveLength(store.seriesOf(snapshot.account));
        expect(samples.filter(({ value }) => !Number.isFinite(value))).toEqual([]);
        expect(families.filter((family) => family.samples.length === 0)).toEqual([]);
        const printed = families
          .filter(({ name }) => name.endsWith('n_requests_per_minute') || name.includes('_host_'))
          .flatMap((family) => family.samples)
          .map(
            ({ labels, value }) => [JSON.stringify(labels.map(([, text]) => text)), value] as const,
          );
        expect(new Map(printed)).toEqual(expectedThroughput(snapshot));
      }),
    );
  });
});
