import { faultUsages } from '../cli/flag-table.ts';
import { durationWithin } from '../cli/flags.ts';
import { didYouMean } from '../config/suggestion.ts';
import { CommandError } from '../daemon/platform.ts';
import { dayMs } from '../model/time.ts';
import type { FaultName, NamedFault } from '../simulator/named-fault.ts';

/** How the value of a fault is read. */
interface FaultForm {
  /** What the value must be, to follow "expected". */
  readonly expected: string;
  /** `undefined` for a value that is not allowed; the value is `undefined` where none is written. */
  readonly parse: (value: string | undefined) => NamedFault | undefined;
}

/** Every fault there is, in the order of the help. */
const faultForms: Readonly<Record<FaultName, FaultForm>> = {
  'fail-app': ofApplication('fail-app'),
  'hang-app': ofApplication('hang-app'),
  'missing-app': ofApplication('missing-app'),
  'missing-host': ofAnyApplication('missing-host'),
  'first-metric': ofAnyApplication('first-metric'),
  'lost-metrics': ofAnyApplication('lost-metrics'),
  '429-every': {
    expected: 'a duration from 30s to 24h, such as 5m',
    parse: (value) => {
      const everyMs = durationWithin(30_000, dayMs, value ?? '');
      return everyMs === undefined ? undefined : { name: '429-every', everyMs };
    },
  },
  slow: {
    expected: 'a duration from 1ms to 10m, such as 5s',
    parse: (value) => {
      const latencyMs = durationWithin(1, 600_000, value ?? '');
      return latencyMs === undefined ? undefined : { name: 'slow', latencyMs };
    },
  },
  'html-502': ofShare('html-502'),
  reset: ofShare('reset'),
  'wrong-key': {
    expected: 'a duration up to 24h, such as 2m, or no value',
    parse: (value) => {
      const afterMs = value === undefined ? 0 : durationWithin(1000, dayMs, value);
      return afterMs === undefined ? undefined : { name: 'wrong-key', afterMs };
    },
  },
};

function ofApplication(name: 'fail-app' | 'hang-app' | 'missing-app'): FaultForm {
  return {
    expected: 'the name of an application, without a comma, or its id',
    parse: (application) =>
      application === undefined || application === '' ? undefined : { name, application },
  };
}

function ofAnyApplication(name: 'missing-host' | 'first-metric' | 'lost-metrics'): FaultForm {
  return {
    expected: 'a part of the name of an application, or no value',
    parse: (application) => (application === '' ? undefined : { name, application }),
  };
}

function ofShare(name: 'html-502' | 'reset'): FaultForm {
  return {
    expected: 'a share from 1% to 100%, or no value',
    parse: (value) => {
      const percent = value === undefined ? 100 : Number(/^(\d{1,3})%$/.exec(value)?.[1]);
      if (!(percent >= 1 && percent <= 100)) return undefined;
      return { name, everyCalls: Math.round(100 / percent) };
    },
  };
}

const faultNames: readonly string[] = Object.keys(faultForms);

function isFaultName(word: string): word is FaultName {
  return faultNames.includes(word);
}

/** The faults of a list, separated by commas; the empty text has none. Throws a `CommandError`. */
export function faultsFrom(flag: string, text: string): readonly NamedFault[] {
  return itemsOf(text).map((item) => {
    const fault = parseFault(item);
    if (typeof fault === 'string') throw new CommandError(2, `--${flag}: ${fault}`);
    return fault;
  });
}

function itemsOf(text: string): readonly string[] {
  return text.trim() === '' ? [] : text.split(',').map((item) => item.trim());
}

/** The fault, or what is wrong with it. */
function parseFault(item: string): NamedFault | string {
  const [name = '', ...rest] = item.split('=');
  const value = rest.length === 0 ? undefined : rest.join('=');
  if (!isFaultName(name)) {
    const hint = didYouMean(name, faultNames) ?? `there are: ${faultUsages}`;
    return `unknown fault ${JSON.stringify(name)}: ${hint}`;
  }
  const { parse, expected } = faultForms[name];
  return (
    parse(value) ??
    (value === undefined
      ? `${name} needs a value: ${usageOf(name)}`
      : `${name}: ${JSON.stringify(value)} is not valid: expected ${expected}`)
  );
}

/** As in the help, such as `fail-app=APP`. */
function usageOf(name: FaultName): string {
  return faultUsages.split(', ').find((usage) => usage.startsWith(`${name}=`)) ?? name;
}
