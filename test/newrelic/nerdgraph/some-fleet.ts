import fc from 'fast-check';
import type { AppEntry } from '../../../src/model/config.ts';
import { presetNames } from '../../../src/model/presets.ts';
import type { SelectedApplication } from '../../../src/model/selected-application.ts';
import { type Division, undivided } from '../../../src/newrelic/nerdgraph/query-plan.ts';
import { aSelected } from '../../support/builders.ts';

export function hostsNamed(count: number, prefix = 'host'): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
}

const someHosts: fc.Arbitrary<AppEntry['hosts']> = fc.oneof(
  { weight: 3, arbitrary: fc.constant(true) },
  fc.constant(false),
  fc.constantFrom<AppEntry['hosts']>(
    { kind: 'match', pattern: /[02468]$/u },
    { kind: 'match', pattern: /^none/u },
    { kind: 'self', names: ['host-3', 'HOST-7'] },
  ),
);

const someEntry: fc.Arbitrary<Parameters<typeof aSelected>[1]> = fc.record({
  hosts: someHosts,
  application: fc.boolean(),
  transactions: fc.constantFrom<AppEntry['transactions']>(['web', 'other'], ['web'], ['other']),
  poll: fc.constantFrom<Partial<AppEntry['poll']>>(
    {},
    { metrics: presetNames },
    { metrics: ['apdex', 'memory'] },
    { window: { kind: 'vendor_default' } },
    { delayMs: 240_000 },
  ),
});

/** Applications of any account, each with its entry. Half of them share their hosts with others. */
export const someFleet: fc.Arbitrary<readonly SelectedApplication[]> = fc
  .array(
    fc.record({
      entry: someEntry,
      hosts: fc.oneof(fc.nat(6), fc.nat(60), fc.nat(700)),
      isShared: fc.boolean(),
      isKnown: fc.constantFrom(true, true, false),
      reporting: fc.constantFrom(true, true, false, undefined),
    }),
    { maxLength: 40 },
  )
  .map((applications) =>
    applications.map(({ entry, hosts, isShared, isKnown, reporting }, index) =>
      aSelected(
        {
          id: `${index + 1}`,
          reporting,
          hostIds: isKnown ? hostsNamed(hosts, isShared ? 'host' : `app${index}`) : undefined,
          hostCount: hosts,
        },
        entry,
      ),
    ),
  );

/** How the queries about some of the applications `1` to `40` are divided. */
export const someDivisions: fc.Arbitrary<(id: string) => Division> = fc
  .array(
    fc.record({
      together: fc.constantFrom(200, 200, 50, 13, 4, 1, 1 / 4, 1 / 16, 1 / 64),
      when: fc.constantFrom('usual' as const, 'again' as const),
    }),
    { minLength: 40, maxLength: 40 },
  )
  .map((divisions) => (id) => divisions[Number(id) % 40] ?? undivided);
