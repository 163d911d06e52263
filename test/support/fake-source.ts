import { ApiError } from '../../src/model/api-error.ts';
import type { Application } from '../../src/model/application.ts';
import type { Throughput, ThroughputAnswer, ThroughputQuery } from '../../src/model/reading.ts';
import type { Discovery, Source } from '../../src/model/source.ts';

/** What the fake answers for one subject: a value, an error, or nothing until it is told to. */
export type Answer = Throughput | ApiError | Promise<Throughput>;

export interface FakeSource extends Source {
  /** Replaces what the account has; the answers of a discovery. */
  list(...applications: Application[]): void;
  /** Lets the next discoveries fail with this error, having found these applications; `undefined` heals. */
  failDiscovery(error: ApiError | undefined, found?: readonly Application[]): void;
  /** Answers for an application (`1`) or a host of it (`1/11`). Unanswered subjects are surprises. */
  answer(subject: string, answer: Answer, windowEndMs?: number): void;
  names(applicationId: string, answer: ReadonlyMap<string, string> | ApiError): void;
  /** Every call in order, such as `list`, `names 1`, `app 1`, `host 1/11`. */
  readonly calls: string[];
  readonly queries: ThroughputQuery[];
}

export function webOf(requestsPerMinute: number): Throughput {
  return new Map([['web', requestsPerMinute]]);
}

/** A vendor that knows only what a test told it, and fails on anything else. */
export function createFakeSource(): FakeSource {
  let applications: readonly Application[] = [];
  let failure: { error: ApiError; found: readonly Application[] } | undefined;
  const answers = new Map<string, Answer>();
  const windowEnds = new Map<string, number>();
  const hostNames = new Map<string, ReadonlyMap<string, string> | ApiError>();
  const calls: string[] = [];
  const queries: ThroughputQuery[] = [];

  const throughput = async (subject: string, query: ThroughputQuery): Promise<ThroughputAnswer> => {
    queries.push(query);
    const answer = answers.get(subject);
    if (answer === undefined) throw new Error(`the fake was not told about ${subject}`);
    if (answer instanceof ApiError) throw answer;
    return {
      throughput: await answer,
      windowEndMs: query.window?.toMs ?? windowEnds.get(subject),
    };
  };

  return {
    calls,
    queries,
    list: (...next) => {
      applications = next;
    },
    failDiscovery: (error, found = []) => {
      failure = error === undefined ? undefined : { error, found };
    },
    answer: (subject, answer, windowEndMs) => {
      answers.set(subject, answer);
      if (windowEndMs !== undefined) windowEnds.set(subject, windowEndMs);
    },
    names: (applicationId, answer) => {
      hostNames.set(applicationId, answer);
    },
    discover: async (): Promise<Discovery> => {
      calls.push('list');
      return failure === undefined
        ? { applications, complete: true, calls: 1, error: undefined }
        : { applications: failure.found, complete: false, calls: 1, error: failure.error };
    },
    hostNames: async (id) => {
      calls.push(`names ${id}`);
      const answer = hostNames.get(id);
      if (answer === undefined) throw new Error(`the fake was not told the host names of ${id}`);
      if (answer instanceof ApiError) throw answer;
      return answer;
    },
    applicationThroughput: async (id, query) => {
      calls.push(`app ${id}`);
      return throughput(id, query);
    },
    hostThroughput: async (id, hostId, query) => {
      calls.push(`host ${id}/${hostId}`);
      return throughput(`${id}/${hostId}`, query);
    },
  };
}
