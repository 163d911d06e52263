import { faultUsages } from '../cli/simulator-flags.ts';
import { parseDuration } from '../config/duration.ts';
import { didYouMean } from '../config/suggestion.ts';
import { CommandError } from '../daemon/platform.ts';
import type { FaultName, NamedFault } from '../simulator/named-fault.ts';

/** How a fault is written, and how its value is read. */
interface FaultForm {
  /** As in the help, such as `fail-app=APP`; brackets mean that the value may be left out. */
  readonly usage: string;
  /** What it does, to follow the usage. */
  readonly effect: string;
  /** What the value must be, to follow "expected". */
  readonly expected: string;
  /** `undefined` for a value that is not allowed; the value is `undefined` where none is written. */
  readonly parse: (value: string | undefined) => NamedFault | undefined;
}

/** Every fault there is, in the order of the help. */
const faultForms: Readonly<Record<FaultName, FaultForm>> = {
  'fail-app': ofApplication('fail-app', 'calls for its values get status 500'),
  'hang-app': ofApplication('hang-app', 'calls for its values are never answered'),
  'missing-app': ofApplication('missing-app', 'an entry of apps that matches nothing'),
  'missing-host': {
    usage: 'missing-host[=APP]',
    effect: 'a host that is listed, but answers 404',
    expected: 'a part of the name of an application, or no value',
    parse: (application) =>
      application === '' ? undefined : { name: 'missing-host', application },
  },
  'first-metric': ofMetrics('first-metric', 'the others have none'),
  'lost-metrics': ofMetrics('lost-metrics', 'the others are missing'),
  '429-every': {
    usage: '429-every=5m',
    effect: 'for 20 seconds all calls get status 429',
    expected: 'a duration from 30s to 24h, such as 5m',
    parse: (value) => {
      const everyMs = durationOf(value, 30_000, 86_400_000);
      return everyMs === undefined ? undefined : { name: '429-every', everyMs };
    },
  },
  slow: {
    usage: 'slow=5s',
    effect: 'every answer takes that long',
    expected: 'a duration from 1ms to 10m, such as 5s',
    parse: (value) => {
      const latencyMs = durationOf(value, 1, 600_000);
      return latencyMs === undefined ? undefined : { name: 'slow', latencyMs };
    },
  },
  'html-502': ofShare('html-502', 'a page of HTML with status 502'),
  reset: ofShare('reset', 'connections that are reset'),
  'wrong-key': {
    usage: 'wrong-key[=2m]',
    effect: 'from then on the key is refused',
    expected: 'a duration up to 24h, such as 2m, or no value',
    parse: (value) => {
      const afterMs = value === undefined ? 0 : durationOf(value, 1000, 86_400_000);
      return afterMs === undefined ? undefined : { name: 'wrong-key', afterMs };
    },
  },
};

function ofApplication(name: 'fail-app' | 'hang-app' | 'missing-app', effect: string): FaultForm {
  return {
    usage: `${name}=APP`,
    effect,
    expected: 'the name of an application, without a comma, or its id',
    parse: (application) =>
      application === undefined || application === '' ? undefined : { name, application },
  };
}

function ofMetrics(name: 'first-metric' | 'lost-metrics', others: string): FaultForm {
  return {
    usage: `${name}[=APP]`,
    effect: `of metrics that do not share all values only the first has them; ${others}`,
    expected: 'a part of the name of an application, or no value',
    parse: (application) => (application === '' ? undefined : { name, application }),
  };
}

function ofShare(name: 'html-502' | 'reset', effect: string): FaultForm {
  return {
    usage: `${name}[=20%]`,
    effect: `${effect}, for all calls or a share of them`,
    expected: 'a share from 1% to 100%, or no value',
    parse: (value) => {
      const percent = value === undefined ? 100 : Number(/^(\d{1,3})%$/.exec(value)?.[1]);
      if (!(percent >= 1 && percent <= 100)) return undefined;
      return { name, everyCalls: Math.round(100 / percent) };
    },
  };
}

function durationOf(value: string | undefined, minMs: number, maxMs: number): number | undefined {
  if (value === undefined) return undefined;
  const parsed = parseDuration(value, { minMs, maxMs });
  return parsed.problem === undefined ? parsed.ms : undefined;
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
  const { parse, expected, usage } = faultForms[name];
  return (
    parse(value) ??
    (value === undefined
      ? `${name} needs a value: ${usage}`
      : `${name}: ${JSON.stringify(value)} is not valid: expected ${expected}`)
  );
}
