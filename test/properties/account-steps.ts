import fc from 'fast-check';
import { type AccountSetup, accountNames, keyFiles, keyValues } from './account-setup.ts';
import { metricListNames } from './metric-lists.ts';

/** Which calls a trouble is meant for. */
export type Scope =
  | { readonly of: 'everything' }
  /** `shard`: the lists of one of several daemons. */
  | { readonly of: 'lists'; readonly shard?: number }
  /** The lists of hosts, with their names. */
  | { readonly of: 'names' }
  | { readonly of: 'application'; readonly index: number }
  /** So many of a hundred applications and hosts, always the same ones. */
  | { readonly of: 'some'; readonly percent: number };

export type ListTrouble =
  | 'empty'
  | 'next_without_page'
  | 'leads_back'
  | 'second_page_fails'
  | 'cut_short';

/** What goes wrong with the lists of hosts alone. */
export type NamesTrouble =
  /** Hosts that the list of applications has are not there yet. */
  'left_out' | 'second_page_fails' | 'filter_ignored' | 'cut_short';

/** What goes wrong with calls. */
export type TroubleKind =
  | { readonly kind: 'status'; readonly status: 401 | 403 | 404 | 500 | 503 }
  | { readonly kind: 'slow'; readonly ms: number }
  | { readonly kind: 'hang' }
  | { readonly kind: 'reset' }
  | { readonly kind: 'other_window' };

/** How a 429 names the end of the pause. */
export type Hint =
  | { readonly says: 'reset'; readonly seconds: number }
  | { readonly says: 'retry_after'; readonly seconds: number }
  | { readonly says: 'nothing' };

/** A change of the configuration; accounts are chosen by index, modulo their number. */
export type AccountStep =
  | { readonly do: 'reload'; readonly account: number; readonly set: Partial<AccountSetup> }
  | { readonly do: 'take_out'; readonly account: number }
  | {
      readonly do: 'put_in';
      readonly account: number;
      readonly name: string;
      readonly keyFile: string;
    }
  | { readonly do: 'split'; readonly account: number; readonly name: string }
  | { readonly do: 'swap_keys' };

/** A change of what the vendor has; applications are chosen by index, modulo their number. */
export type FleetStep =
  | { readonly do: 'add_application'; readonly hosts: number }
  | { readonly do: 'remove_application'; readonly index: number }
  | { readonly do: 'remove_most_applications' }
  | { readonly do: 'rename_application'; readonly index: number }
  | {
      readonly do: 'replace_hosts';
      readonly index: number;
      readonly hosts: number;
      /** Whether the new ones have the names of those that are gone. */
      readonly sameNames: boolean;
    }
  /** Another host with the name of one that there is. */
  | { readonly do: 'add_twin'; readonly index: number }
  | { readonly do: 'remove_host'; readonly index: number; readonly host: number };

/** Whatever else may happen. */
export type WorldStep =
  | { readonly do: 'advance'; readonly seconds: number }
  | { readonly do: 'calm'; readonly minutes: number }
  | {
      readonly do: 'reload_often';
      readonly what: 'label' | 'windowMs';
      readonly account: number;
      readonly seconds: number;
      readonly times: number;
    }
  | { readonly do: 'slow_spell'; readonly ms: number; readonly minutes: number }
  | { readonly do: 'out_and_in'; readonly account: number; readonly seconds: number }
  /** By NerdGraph for a while, and back, a few times. */
  | {
      readonly do: 'switch_source';
      readonly account: number;
      readonly seconds: number;
      readonly times: number;
    }
  | {
      readonly do: 'rotate';
      readonly keyFile: string;
      readonly to: string;
      readonly revoke: boolean;
    }
  | { readonly do: 'throttle'; readonly key: string; readonly calls: number; readonly hint: Hint }
  | { readonly do: 'other_user'; readonly key: string; readonly minutes: number }
  | {
      readonly do: 'trouble';
      readonly minutes: number;
      readonly scope: Scope;
      readonly trouble: TroubleKind;
    }
  | { readonly do: 'list_trouble'; readonly minutes: number; readonly fault: ListTrouble }
  | { readonly do: 'names_trouble'; readonly minutes: number; readonly fault: NamesTrouble }
  | { readonly do: 'clock_step'; readonly seconds: number }
  | { readonly do: 'suspend'; readonly minutes: number }
  | { readonly do: 'vendor_date'; readonly seconds: number };

/** One thing that happens. */
export type Step = AccountStep | FleetStep | WorldStep;

const accountSteps: ReadonlySet<string> = new Set<AccountStep['do']>([
  'reload',
  'take_out',
  'put_in',
  'split',
  'swap_keys',
]);
const fleetSteps: ReadonlySet<string> = new Set<FleetStep['do']>([
  'add_application',
  'remove_application',
  'remove_most_applications',
  'rename_application',
  'replace_hosts',
  'add_twin',
  'remove_host',
]);

export function isAccountStep(one: Step): one is AccountStep {
  return accountSteps.has(one.do);
}

export function isFleetStep(one: Step): one is FleetStep {
  return fleetSteps.has(one.do);
}

/** What to do for each kind of step. */
export type Handlers<Steps extends Step, Result> = {
  readonly [Kind in Steps['do']]: (step: Extract<Steps, { readonly do: Kind }>) => Result;
};

export function handle<Steps extends Step, Result>(
  handlers: Handlers<Steps, Result>,
  one: Steps,
): Result {
  const handler = handlers[one.do as Steps['do']] as (taken: Steps) => Result;
  return handler(one);
}

const account = fc.nat(3);
const index = fc.nat(7);
const key = fc.constantFrom(...keyValues);
const keyFile = fc.constantFrom(...keyFiles);
const name = fc.constantFrom(...accountNames);
const minutes = fc.constantFrom(1, 3, 20);

function step<Kind extends Step['do'], Fields extends object>(
  kind: Kind,
  fields: { readonly [Key in keyof Fields]: fc.Arbitrary<Fields[Key]> },
): fc.Arbitrary<{ readonly do: Kind } & Fields> {
  return fc.record({ do: fc.constant(kind), ...fields }) as fc.Arbitrary<{ do: Kind } & Fields>;
}

function reload<Field extends keyof AccountSetup>(
  field: Field,
  to: fc.Arbitrary<AccountSetup[Field]>,
): fc.Arbitrary<Step> {
  return step('reload', { account, set: to.map((value) => ({ [field]: value })) });
}

const scope: fc.Arbitrary<Scope> = fc.oneof(
  fc.record({ of: fc.constant('everything' as const) }),
  fc.record({ of: fc.constant('lists' as const) }),
  fc.record({ of: fc.constant('names' as const) }),
  fc.record({ of: fc.constant('application' as const), index }),
  // Most often: then one poll brings good answers and bad ones.
  ...Array.from({ length: 3 }, () =>
    fc.record({ of: fc.constant('some' as const), percent: fc.constantFrom(10, 25, 60, 90) }),
  ),
);

const hint: fc.Arbitrary<Hint> = fc.oneof(
  fc.record({ says: fc.constant('reset' as const), seconds: fc.constantFrom(3, 20, 60, 200) }),
  fc.record({ says: fc.constant('retry_after' as const), seconds: fc.constantFrom(0, 1, 30) }),
  fc.record({ says: fc.constant('nothing' as const) }),
);

const troubles: fc.Arbitrary<TroubleKind> = fc.oneof(
  fc.record({
    kind: fc.constant('status' as const),
    status: fc.constantFrom(401 as const, 403 as const, 404 as const, 500 as const, 503 as const),
  }),
  fc.record({ kind: fc.constant('slow' as const), ms: fc.constantFrom(800, 2000, 4000) }),
  fc.record({ kind: fc.constant('hang' as const) }),
  fc.record({ kind: fc.constant('reset' as const) }),
  fc.record({ kind: fc.constant('other_window' as const) }),
);

const reloads: fc.Arbitrary<Step> = fc.oneof(
  reload('label', fc.constantFrom('x', 'y')),
  reload('wants', fc.constantFrom('all', 'even', 'odd', 'ids')),
  reload('hosts', fc.constantFrom('all', 'none', 'self', 'match')),
  reload('application', fc.boolean()),
  reload('hostNames', fc.boolean()),
  reload('intervalMs', fc.constantFrom(30_000, 60_000, 120_000, 300_000)),
  reload('windowMs', fc.constantFrom(300_000, 600_000)),
  ...[1, 2].map(() => reload('metrics', fc.constantFrom(...metricListNames))),
  reload('staleAfterMs', fc.constantFrom(300_000, 600_000, 900_000)),
  reload('requestsPerMinute', fc.constantFrom(20, 40, 60, 120, 300)),
  reload('concurrency', fc.constantFrom(1, 2, 4, 8)),
  reload('keyFile', keyFile),
  reload('name', name),
  step('reload_often', {
    account,
    what: fc.constantFrom('label', 'windowMs'),
    seconds: fc.constantFrom(15, 40),
    times: fc.integer({ min: 4, max: 20 }),
  }),
);

const accounts: fc.Arbitrary<Step> = fc.oneof(
  step('take_out', { account }),
  step('out_and_in', { account, seconds: fc.constantFrom(1, 20, 90) }),
  step('put_in', { account, name, keyFile }),
  step('split', { account, name }),
  step('swap_keys', {}),
  step('rotate', { keyFile, to: key, revoke: fc.boolean() }),
);

const refusals: fc.Arbitrary<Step> = fc.oneof(
  step('throttle', { key, calls: fc.integer({ min: 1, max: 12 }), hint }),
  step('other_user', { key, minutes: fc.integer({ min: 1, max: 4 }) }),
);

const failures: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 1,
    arbitrary: step('slow_spell', {
      ms: fc.constantFrom(2000, 4000),
      minutes: fc.constantFrom(6, 15),
    }),
  },
  {
    weight: 3,
    arbitrary: step('trouble', { minutes, scope, trouble: troubles }),
  },
  {
    weight: 1,
    arbitrary: step('list_trouble', {
      minutes: fc.constantFrom(1, 3),
      fault: fc.constantFrom<ListTrouble[]>(
        'empty',
        'next_without_page',
        'leads_back',
        'second_page_fails',
        'cut_short',
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: step('names_trouble', {
      minutes: fc.constantFrom(1, 3, 20),
      fault: fc.constantFrom<NamesTrouble[]>(
        'left_out',
        'left_out',
        'second_page_fails',
        'filter_ignored',
        'cut_short',
      ),
    }),
  },
);

const fleet: fc.Arbitrary<Step> = fc.oneof(
  step('add_application', { hosts: fc.constantFrom(0, 1, 3, 30, 60) }),
  step('remove_application', { index }),
  step('remove_most_applications', {}),
  step('rename_application', { index }),
  step('replace_hosts', {
    index,
    hosts: fc.integer({ min: 1, max: 4 }),
    sameNames: fc.boolean(),
  }),
  step('add_twin', { index }),
  step('remove_host', { index, host: fc.nat(4) }),
);

const clocks: fc.Arbitrary<Step> = fc.oneof(
  step('clock_step', { seconds: fc.constantFrom(-3600, -20, 20, 90, 3600) }),
  step('suspend', { minutes: fc.constantFrom(2, 30, 480) }),
  step('vendor_date', { seconds: fc.constantFrom(0, 0, -60, 60, 3600, -3600, 31_536_000) }),
);

const advance = step('advance', { seconds: fc.constantFrom(1, 5, 20, 45, 60, 90, 150, 400, 600) });
const calm = step('calm', { minutes: fc.constantFrom(7, 12) });

/** Any course of events; time passes between most of them. */
export const courses: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: advance },
    { weight: 1, arbitrary: calm },
    { weight: 3, arbitrary: reloads },
    { weight: 3, arbitrary: accounts },
    { weight: 2, arbitrary: refusals },
    { weight: 3, arbitrary: failures },
    { weight: 3, arbitrary: fleet },
    { weight: 2, arbitrary: clocks },
  ),
  { minLength: 6, maxLength: 22, size: 'max' },
);

/** What may happen to several daemons that share an account. */
export const coursesOfShards: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 7, arbitrary: advance },
    { weight: 2, arbitrary: reloads },
    { weight: 1, arbitrary: accounts },
    { weight: 1, arbitrary: refusals },
    { weight: 1, arbitrary: failures },
    {
      weight: 2,
      arbitrary: step('trouble', {
        minutes,
        scope: fc.record({ of: fc.constant('lists' as const), shard: fc.nat(1) }),
        trouble: fc.constant<TroubleKind>({ kind: 'status', status: 500 }),
      }),
    },
    { weight: 4, arbitrary: fleet },
  ),
  { minLength: 5, maxLength: 14, size: 'max' },
);

/** What may happen while accounts are read by one source, and by the other for a while. */
export const coursesOfSources: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: advance },
    {
      weight: 4,
      arbitrary: step('switch_source', {
        account,
        seconds: fc.constantFrom(1, 5, 20, 45, 90, 400),
        times: fc.constantFrom(1, 1, 3),
      }),
    },
    { weight: 1, arbitrary: reload('label', fc.constantFrom('x', 'y')) },
    { weight: 1, arbitrary: reload('requestsPerMinute', fc.constantFrom(20, 40, 60, 120, 300)) },
    { weight: 1, arbitrary: refusals },
    {
      weight: 2,
      arbitrary: step('trouble', {
        minutes: fc.constantFrom(1, 3),
        scope: fc.record({ of: fc.constant('everything' as const) }),
        trouble: fc.constantFrom<TroubleKind[]>(
          { kind: 'status', status: 500 },
          { kind: 'slow', ms: 2000 },
          { kind: 'hang' },
          { kind: 'reset' },
        ),
      }),
    },
  ),
  { minLength: 4, maxLength: 12, size: 'max' },
);

/** A step as one short line. */
export function textOf({ do: kind, ...fields }: Step): string {
  return [kind, ...Object.entries(fields).flatMap(([field, value]) => partsOf(field, value))].join(
    ' ',
  );
}

function partsOf(field: string, value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null
    ? [
        `(${Object.entries(value)
          .map(([part, its]) => `${part} ${String(its)}`)
          .join(' ')})`,
      ]
    : [`${field} ${String(value)}`];
}
