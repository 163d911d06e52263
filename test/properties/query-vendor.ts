import fc from 'fast-check';
import { ApiError } from '../../src/model/api-error.ts';
import { type Clock, sleep } from '../../src/model/clock.ts';
import { minuteMs } from '../../src/model/time.ts';
import type { ApiRequest, ApiResponse, RawTransport } from '../../src/newrelic/calls/transport.ts';
import { delays, isWanted, questionOf, type Setup, truthOf } from './query-setups.ts';

const kinds = [
  'hangs',
  'fails',
  'throttles',
  'is gone',
  'refuses',
  'answers with an error beside',
  'answers for another time',
  'answers with other facets',
] as const;

/** What New Relic does with some of the calls. */
export interface Trouble {
  readonly of: 'lists' | 'queries' | 'applications' | 'all';
  readonly kind: (typeof kinds)[number];
}

export const troubles: fc.Arbitrary<Trouble> = fc.record({
  of: fc.constantFrom('lists', 'queries', 'queries', 'applications', 'all'),
  kind: fc.constantFrom(...kinds),
});

export interface QueryVendorDependencies {
  readonly clock: Clock;
  readonly latencyMs: number;
  /** The configuration in force; during a reload also the next one. */
  readonly setups: () => readonly Setup[];
  readonly report: (problem: string) => void;
}

export interface QueryVendor {
  readonly wire: RawTransport;
  trouble(trouble: Trouble, forMs: number): void;
  calm(): void;
  revoke(key: string): void;
  reinstate(key: string): void;
  /** From now on, until it is said otherwise, no list may be broken off. */
  listsStay(stay: boolean): void;
}

function answer(status: number, body: unknown = {}, headers = {}): ApiResponse {
  return { status, headers, body: JSON.stringify(body) };
}

/** Puts queries beside the simulated account, and holds that nothing is asked that nobody wants. */
export function createQueryVendor(
  simulated: RawTransport,
  { clock, latencyMs, setups, report }: QueryVendorDependencies,
): QueryVendor {
  const revoked = new Set<string>();
  let running: readonly (Trouble & { readonly untilMs: number })[] = [];
  let doListsStay = false;

  const troubleFor = (request: ApiRequest): Trouble['kind'] | undefined => {
    const nowMs = clock.monotonicMs();
    running = running.filter(({ untilMs }) => nowMs < untilMs);
    return running.find(({ of }) => of === 'all' || of === kindOf(request))?.kind;
  };

  /** Only what is wanted when it leaves: what was under way before has left. */
  const check = (request: ApiRequest): void => {
    const all = setups();
    const { nrql } = variablesOf(request);
    const kind = kindOf(request);
    if (kind === 'lists') {
      if (all.every(({ wants }) => wants === 'none'))
        report('a list is asked for without applications');
    } else if (kind === 'queries') {
      const asked = questionIn(nrql, clock.wallMs());
      const wanted = all.flatMap(({ queries }) => queries.map(questionOf));
      if (!wanted.includes(asked)) report(`nobody asks ${asked}: ${nrql}`);
    } else {
      const ids = /appId IN \(([^)]*)\)/u.exec(nrql)?.[1]?.split(',') ?? ['none'];
      const unwanted = ids.filter((id) => !all.some((setup) => isWanted(setup, id)));
      // Tried again it is the same call, as long as anything that shares it is wanted.
      const isSame = (request.attempt ?? 1) > 1 && unwanted.length < ids.length;
      if (unwanted.length > 0 && !isSame)
        report(`${request.operation}: nobody wants ${unwanted.join()}`);
    }
  };

  const answerTo = async (
    request: ApiRequest,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ApiResponse> => {
    const trouble = troubleFor(request);
    await sleep(clock, trouble === 'hangs' ? 60 * minuteMs : latencyMs, signal);
    if (trouble === 'is gone') throw new ApiError('connect', 'nobody is there');
    if (trouble === 'fails') return answer(500);
    if (trouble === 'throttles') return answer(429, {}, { 'retry-after': '20' });
    if (trouble === 'refuses' || revoked.has(headers['Api-Key'] ?? '')) return answer(401);
    if (kindOf(request) !== 'queries') return simulated.send(request, headers, signal);
    return answer(
      200,
      answerToQuery(variablesOf(request).nrql, clock.wallMs() - latencyMs, trouble),
    );
  };

  return {
    wire: {
      send: async (request, headers, signal) => {
        check(request);
        const onAbort = (): void => {
          if (doListsStay && kindOf(request) === 'lists') report('a reload of queries ends a list');
        };
        signal.addEventListener('abort', onAbort, { once: true });
        try {
          return await answerTo(request, headers, signal);
        } finally {
          signal.removeEventListener('abort', onAbort);
        }
      },
      close: async () => {},
    },
    trouble: (trouble, forMs) => {
      running = [...running, { ...trouble, untilMs: clock.monotonicMs() + forMs }];
    },
    calm: () => {
      running = [];
    },
    revoke: (key) => revoked.add(key),
    reinstate: (key) => revoked.delete(key),
    listsStay: (stay) => {
      doListsStay = stay;
    },
  };
}

function kindOf({ operation }: ApiRequest): Trouble['of'] {
  if (operation === 'list_applications') return 'lists';
  return operation === 'query' ? 'queries' : 'applications';
}

function variablesOf({ body = '{}' }: ApiRequest): { readonly nrql: string } {
  const { variables } = JSON.parse(body) as { variables?: { nrql?: string } };
  return { nrql: variables?.nrql ?? '' };
}

function windowIn(nrql: string): { readonly begin: number; readonly end: number } {
  const [, begin, end] = / SINCE (\d+) UNTIL (\d+)$/u.exec(nrql) ?? [];
  return { begin: Number(begin), end: Number(end) };
}

/** @param wallMs when it was asked */
function questionIn(nrql: string, wallMs: number): string {
  const { begin, end } = windowIn(nrql);
  const ageMinutes = (wallMs - end) / minuteMs;
  return questionOf({
    event: Number(/FROM Event(\d+) FACET appName /u.exec(nrql)?.[1]),
    windowMinutes: (end - begin) / minuteMs,
    delayMinutes: delays.findLast((delay) => delay <= ageMinutes) ?? 0,
  });
}

/** What goes wrong has values that nobody else has: they must not be seen. */
function answerToQuery(nrql: string, wallMs: number, trouble: Trouble['kind'] | undefined): object {
  const { begin, end } = windowIn(nrql);
  const byMs = trouble === 'answers for another time' ? 60 * minuteMs : 0;
  const facets = trouble === 'answers with other facets' ? ['host'] : ['appName'];
  const results = truthOf(questionIn(nrql, wallMs)).map(([appName, n]) => ({
    facet: appName,
    appName,
    n: trouble === undefined ? n : -1,
  }));
  const timeWindow = { begin: begin - byMs, end: end - byMs };
  const errors = [{ message: 'lost', extensions: { errorClass: 'TIMEOUT' } }];
  return {
    data: { actor: { account: { nrql: { results, metadata: { facets, timeWindow } } } } },
    ...(trouble === 'answers with an error beside' && { errors }),
  };
}
