import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { Clock } from '../../src/model/clock.ts';
import type { Values } from '../../src/model/polled-series.ts';
import type { Discovery, HostNames, RequestContext, Source } from '../../src/model/source.ts';
import type { AccountCalls } from '../../src/newrelic/calls/account-calls.ts';
import type { WholeAnswersContext } from '../../src/newrelic/rest/call-groups.ts';
import type { MetricAnswer, MetricQuery } from '../../src/newrelic/rest/metric-payload.ts';
import type { RestClient } from '../../src/newrelic/rest/poll.ts';
import { createRestSource } from '../../src/newrelic/rest/rest-source.ts';
import { accountCalls as aloneWithKey } from '../newrelic/calls/call-fakes.ts';
import { createFakeClock } from './fake-clock.ts';
import { createFakeLogger } from './fake-logger.ts';

/** For a REST source of which nobody wants to know what it reports. */
const unobserved: WholeAnswersContext = {
  observer: { unexpected: (): void => undefined },
  logger: createFakeLogger(),
};

/** What the fake answers for one subject: a value, an error, or nothing until it is told to. */
export type Answer = Values | ApiError | Promise<Values>;

export type NamesAnswer = Map<string, string> | ApiError | HostNames | Promise<never>;

export interface FakeSource extends Source {
  /** What lets its calls go. */
  readonly accountCalls: AccountCalls;
  readonly clock: Clock;
  /** The calls of the REST API; what they answer is what the fake was told, whoever asks. */
  readonly client: RestClient;
  /** Replaces what the account has; the answers of a discovery. */
  list(...applications: Application[]): void;
  /** Lets the next discoveries fail with this error, having found these applications; `undefined` heals. */
  failDiscovery(error: ApiError | undefined, found?: readonly Application[]): void;
  /** Lets the next discoveries end only when they are aborted. */
  hangDiscovery(): void;
  /** Lets the next discovery end, whatever is aborted, when the given function is called. */
  holdDiscovery(): () => void;
  /** Ids that the list has but that could not be read. */
  unreadable(...ids: string[]): void;
  /** Ids that the next discoveries have not asked for alone yet. */
  pending(...ids: string[]): void;
  /** Answers for an application (`1`) or a host of it (`1/11`). Unanswered subjects are surprises. */
  answer(subject: string, answer: Answer, windowEndMs?: number): void;
  names(applicationId: string, answer: NamesAnswer): void;
  /** What is there of the names when a deadline ends the question, which nothing else does. */
  namesUntilAborted(applicationId: string, answer: HostNames): void;
  /**
   * What was asked for, in order, such as `list`, `names 1`, `names 1 of web-1`, `app 1`, `host 1/11`.
   * By the REST API each is a call of its own.
   */
  readonly calls: string[];
  /** How many calls were made. */
  readonly sent: () => number;
  readonly queries: MetricQuery[];
}

export function webOf(requestsPerMinute: number): Values {
  return [requestsPerMinute];
}

/** Uses the permit of a call, as a transport does. */
export async function inTurn<Value>(
  { permit }: RequestContext,
  send: () => Promise<Value>,
): Promise<Value> {
  try {
    const value = await send();
    permit?.release('answered');
    return value;
  } catch (error) {
    permit?.release(
      error instanceof ApiError && error.status !== undefined ? 'answered' : 'failed',
    );
    throw error;
  }
}

/** Waits as a transport does: an abort ends it at once, with the signal's reason. */
async function obeying<Value>(signal: AbortSignal, value: Value | Promise<Value>): Promise<Value> {
  signal.throwIfAborted();
  return Promise.race([
    value,
    new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        reject(signal.reason as Error);
      });
    }),
  ]);
}

/** The names that came, and as a source does, the reason of an abort that is a deadline. */
async function keepingWhatCame(
  signal: AbortSignal,
  answer: HostNames | Promise<never>,
): Promise<HostNames> {
  try {
    return await obeying(signal, answer);
  } catch (error) {
    if (error instanceof ApiError) return { names: new Map(), error, calls: 1 };
    throw error;
  }
}

/** As a source does, an incomplete discovery when the reason of the abort is a deadline. */
async function whenCutShort(signal: AbortSignal): Promise<Discovery> {
  try {
    return await obeying(signal, new Promise<never>(() => undefined));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const nothing = { applications: [], unreadableIds: [], pendingIds: [] };
    return { ...nothing, complete: false, calls: 1, error };
  }
}

/** The real source over such calls. */
export function restSourceOf(
  client: RestClient,
  calls: AccountCalls,
  clock: Clock = createFakeClock(),
): Source {
  const vendorClock = { wallMs: () => clock.wallMs(), skewSeconds: () => undefined };
  return createRestSource('main', { client, clock, calls, vendorClock, ...unobserved });
}

/** A vendor that knows only what a test told it, and fails on anything else. */
export function createFakeSource(
  clock: Clock = createFakeClock(),
  accountCalls: AccountCalls = aloneWithKey(clock),
): FakeSource {
  let applications: readonly Application[] = [];
  let unreadableIds: readonly string[] = [];
  let pendingIds: readonly string[] = [];
  let failure: { error: ApiError; found: readonly Application[] } | undefined;
  const answers = new Map<string, Answer>();
  const windowEnds = new Map<string, number>();
  const hostNames = new Map<string, NamesAnswer>();
  const namesThatCame = new Map<string, HostNames>();
  let hold: Promise<void> | undefined;
  let isHanging = false;
  const calls: string[] = [];
  const queries: MetricQuery[] = [];

  const values = async (
    subject: string,
    query: MetricQuery,
    signal: AbortSignal,
  ): Promise<MetricAnswer> => {
    queries.push(query);
    const answer = answers.get(subject);
    if (answer === undefined) throw new Error(`the fake was not told about ${subject}`);
    if (answer instanceof ApiError) throw answer;
    return {
      values: await obeying(signal, answer),
      windowEndMs: query.window?.toMs ?? windowEnds.get(subject),
      unanswered: [],
    };
  };

  const names = async (id: string, signal: AbortSignal): Promise<HostNames> => {
    const answer = hostNames.get(id);
    if (answer === undefined) throw new Error(`the fake was not told the host names of ${id}`);
    if (answer instanceof ApiError) return { names: new Map(), error: answer, calls: 1 };
    if (answer instanceof Map) return { names: answer, error: undefined, calls: 1 };
    const whatCame = namesThatCame.get(id);
    const result = await keepingWhatCame(signal, answer);
    return whatCame === undefined ? result : { ...whatCame, error: result.error };
  };

  const client: RestClient = {
    discover: async (_selectors, _known, signal): Promise<Discovery> => {
      calls.push('list');
      if (isHanging) return whenCutShort(signal);
      const held = hold;
      hold = undefined;
      await held;
      return failure === undefined
        ? { applications, complete: true, unreadableIds, pendingIds, calls: 1, error: undefined }
        : {
            applications: failure.found,
            complete: false,
            unreadableIds: [],
            pendingIds: [],
            calls: 1,
            error: failure.error,
          };
    },
    hostNames: async (id, context, wanted) => {
      calls.push(wanted === undefined ? `names ${id}` : `names ${id} of ${wanted.join()}`);
      return inTurn(context, async () => names(id, context.signal));
    },
    metrics: async (id, hostId, query, context) => {
      const subject = hostId === undefined ? id : `${id}/${hostId}`;
      calls.push(hostId === undefined ? `app ${id}` : `host ${subject}`);
      return inTurn(context, async () => values(subject, query, context.signal));
    },
  };

  return {
    ...restSourceOf(client, accountCalls, clock),
    accountCalls,
    clock,
    client,
    calls,
    sent: () => calls.length,
    queries,
    list: (...next) => {
      applications = next;
    },
    failDiscovery: (error, found = []) => {
      failure = error === undefined ? undefined : { error, found };
    },
    hangDiscovery: () => {
      isHanging = true;
    },
    holdDiscovery: () => {
      let release = (): void => undefined;
      hold = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    unreadable: (...ids) => {
      unreadableIds = ids;
    },
    pending: (...ids) => {
      pendingIds = ids;
    },
    answer: (subject, answer, windowEndMs) => {
      answers.set(subject, answer);
      if (windowEndMs !== undefined) windowEnds.set(subject, windowEndMs);
    },
    names: (applicationId, answer) => {
      hostNames.set(applicationId, answer);
      namesThatCame.delete(applicationId);
    },
    namesUntilAborted: (applicationId, answer) => {
      hostNames.set(applicationId, new Promise<never>(() => undefined));
      namesThatCame.set(applicationId, answer);
    },
  };
}
