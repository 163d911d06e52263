import type { Fault } from './fault.ts';
import type { FaultCondition, FaultRule } from './fault-rule.ts';
import type { Fleet } from './fleet.ts';
import type { SimulatedApplication } from './simulated-application.ts';

/** A fault as a user asks for it, with its value. */
export type NamedFault =
  | {
      readonly name: 'fail-app' | 'hang-app' | 'missing-app';
      /** An id, a name, or a part of a name. */
      readonly application: string;
    }
  | {
      readonly name: 'missing-host';
      /** As above; without it the first application that has a host. */
      readonly application: string | undefined;
    }
  | {
      readonly name: 'first-metric' | 'lost-metrics';
      /** As above; without it all applications. */
      readonly application: string | undefined;
    }
  | { readonly name: '429-every'; readonly everyMs: number }
  /** Concerns the simulator as a whole, not single requests. */
  | { readonly name: 'slow'; readonly latencyMs: number }
  | {
      readonly name: 'html-502' | 'reset';
      /** Every so many calls. */
      readonly everyCalls: number;
    }
  | { readonly name: 'wrong-key'; readonly afterMs: number };

export type FaultName = NamedFault['name'];

/** What named faults do to an account, and what to tell its user. */
export interface FaultScript {
  readonly rules: readonly FaultRule[];
  /** Names of applications that the account does not have, for the entries of a configuration. */
  readonly missingNames: readonly string[];
  /** One sentence for each fault, in the same order. */
  readonly sentences: readonly string[];
}

/** A fault names something that the account does not have, or has although it should not. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
  /** What the fault names. */
  readonly wanted: string;
  /** The names that could have been meant. */
  readonly candidates: readonly string[];

  constructor(message: string, wanted: string, candidates: readonly string[] = []) {
    super(message);
    this.wanted = wanted;
    this.candidates = candidates;
  }
}

/** So soon that somebody who tries it need not wait. */
const firstThrottleMs = 30_000;
const throttleLengthMs = 20_000;

type Effect = Partial<Omit<FaultScript, 'sentences'>> & { readonly sentence: string };

/** Throws a `FaultError` if a fault does not fit to the account. */
export function faultScript(faults: readonly NamedFault[], fleet: Fleet): FaultScript {
  const effects = faults.map((fault) => effectOf(fault, fleet));
  return {
    rules: effects.flatMap(({ rules = [] }) => rules),
    missingNames: effects.flatMap(({ missingNames = [] }) => missingNames),
    sentences: effects.map(({ sentence }) => sentence),
  };
}

function effectOf(fault: NamedFault, fleet: Fleet): Effect {
  switch (fault.name) {
    case 'fail-app':
    case 'hang-app':
      return brokenApplication(fault.name, applicationOf(fault.application, fleet));
    case 'missing-app':
      return missingApplication(fault.application, fleet);
    case 'missing-host':
      return missingHost(fault.application, fleet);
    case 'first-metric':
    case 'lost-metrics':
      return firstMetricOnly(fault.name, fault.application, fleet);
    case '429-every':
      return throttledEvery(fault.everyMs);
    case 'slow':
      return { sentence: `every answer takes ${seconds(fault.latencyMs)}` };
    case 'html-502':
      return everySo(
        fault.everyCalls,
        { kind: 'status', status: 502, body: gatewayPage },
        'gets status 502 and a page of HTML, as from a gateway',
      );
    case 'reset':
      return everySo(fault.everyCalls, { kind: 'reset' }, 'ends with a reset connection');
    case 'wrong-key':
      return wrongKey(fault.afterMs);
  }
}

const gatewayPage =
  '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n';

const valueEndpoints: FaultCondition['endpoints'] = ['application_metrics', 'host_metrics'];

function brokenApplication(
  kind: 'fail-app' | 'hang-app',
  application: SimulatedApplication,
): Effect {
  const when = { endpoints: valueEndpoints, applicationId: String(application.id) };
  const subject = `REST calls for the values of ${subjectOf(application)}`;
  return kind === 'fail-app'
    ? {
        rules: [{ when, fault: { kind: 'status', status: 500 } }],
        sentence: `${subject} get status 500`,
      }
    : { rules: [{ when, fault: { kind: 'silence' } }], sentence: `${subject} are never answered` };
}

function subjectOf({ id, name }: SimulatedApplication): string {
  return `${JSON.stringify(name)} (id ${id}) and its hosts`;
}

function missingApplication(text: string, fleet: Fleet): Effect {
  if (fleet.applications().some(({ id, name }) => name === text || String(id) === text)) {
    throw new FaultError(
      `the simulated account has ${JSON.stringify(text)}: give another name`,
      text,
    );
  }
  return {
    missingNames: [text],
    sentence: `the configuration has an entry ${JSON.stringify(text)}, which matches nothing`,
  };
}

function missingHost(text: string | undefined, fleet: Fleet): Effect {
  const application =
    text === undefined
      ? fleet
          .applications()
          .find(({ silentSinceMs, hosts }) => silentSinceMs === undefined && hosts.size > 0)
      : applicationOf(text, fleet);
  const [host] = application === undefined ? [] : fleet.listedHosts(application);
  if (application === undefined || host === undefined) {
    throw new FaultError('the simulated account has no host that could be missing', text ?? '');
  }
  const when = {
    endpoints: ['host_metrics' as const],
    applicationId: String(application.id),
    hostId: String(host.id),
  };
  return {
    rules: [{ when, fault: { kind: 'status', status: 404 } }],
    sentence: `the host ${host.name} of ${JSON.stringify(application.name)} is listed, but REST calls for its values get status 404`,
  };
}

function firstMetricOnly(
  kind: 'first-metric' | 'lost-metrics',
  text: string | undefined,
  fleet: Fleet,
): Effect {
  const application = text === undefined ? undefined : applicationOf(text, fleet);
  const when = {
    endpoints: valueEndpoints,
    applicationId: application === undefined ? undefined : String(application.id),
  };
  const others = kind === 'first-metric' ? 'without_values' : 'missing';
  const subject = application === undefined ? 'any application' : subjectOf(application);
  return {
    rules: [{ when, fault: { kind: 'first_metric_only', others } }],
    sentence: `REST calls for metrics of ${subject} that do not share all values get those of the first one; the others ${kind === 'first-metric' ? 'have none' : 'are missing'}`,
  };
}

function throttledEvery(everyMs: number): Effect {
  const inSeconds = throttleLengthMs / 1000;
  return {
    rules: [
      {
        when: { fromMs: firstThrottleMs, period: { everyMs, lengthMs: throttleLengthMs } },
        fault: { kind: 'throttled', hints: [{ header: 'X-RateLimit-Reset', inSeconds }] },
      },
    ],
    sentence: `after ${seconds(firstThrottleMs)}, and then every ${seconds(everyMs)}, all calls of ${seconds(throttleLengthMs)} get status 429`,
  };
}

function wrongKey(afterMs: number): Effect {
  return {
    rules: [{ when: { fromMs: afterMs }, fault: { kind: 'status', status: 401 } }],
    sentence:
      afterMs === 0
        ? 'the key is refused with status 401'
        : `after ${seconds(afterMs)} the key is refused with status 401, as if it had been deleted`,
  };
}

function applicationOf(text: string, fleet: Fleet): SimulatedApplication {
  const applications = fleet.applications();
  const part = text.toLowerCase();
  const found =
    applications.find(({ id, name }) => String(id) === text || name === text) ??
    applications.find(({ name }) => name.toLowerCase().includes(part));
  if (found !== undefined) return found;
  throw new FaultError(
    `the simulated account has no application ${JSON.stringify(text)}`,
    text,
    applications.map(({ name }) => name),
  );
}

function everySo(everyCalls: number, fault: Fault, happens: string): Effect {
  const share = everyCalls === 1 ? 'every call' : `one call of ${everyCalls}`;
  return {
    rules: [{ when: { calls: { every: everyCalls } }, fault }],
    sentence: `${share} ${happens}`,
  };
}

function seconds(ms: number): string {
  const whole = ms / 1000;
  return whole >= 60 && whole % 60 === 0 ? `${whole / 60} min` : `${whole} s`;
}
