import { ApiError } from '../../src/model/api-error.ts';
import { minuteMs } from '../../src/model/time.ts';
import { type Answering, answered } from '../support/query-daemon.ts';
import type { RunningDaemon } from '../support/running-daemon.ts';
import { alertTimeline, type Timeline } from './alert-timeline.ts';
import { type Exporter, recordedSeries, type Times, type Trouble } from './recorded-series.ts';

/** How many exporters and applications there are. */
export interface Scene {
  readonly name: string;
  readonly applications: number;
  /** Another exporter is well, and has an account of the same name with another application. */
  readonly isPair?: boolean;
}

export interface Cause {
  /** As a row of the table names it. */
  readonly name: string;
  /** Default: with applications by the REST API. */
  readonly config?: string;
  /** Whether it is there from the start. */
  readonly isFromStart?: boolean;
  /** Whether it is no matter how many applications there are: then many only take time. */
  readonly isOfOne?: boolean;
  readonly troubleOf: (scene: Scene) => Trouble;
}

export const alone: Scene = { name: 'one application', applications: 1 };
const many: Scene = { name: '200 applications', applications: 200 };
const pair: Scene = { name: 'two exporters', applications: 1, isPair: true };

export function scenesOf({ isOfOne = false }: Cause): readonly Scene[] {
  return isOfOne ? [alone, pair] : [alone, many, pair];
}

const firstId = 101;
const watchedMinutes = 30;
/** How long all is well before what is not there from the start. */
const wellMinutes = 15;

const rest = 'accounts: [{ name: default, api_key_env: KEY_A }]';
const nerdgraph =
  'accounts: [{ name: default, api_key_env: KEY_A, source: nerdgraph, account_id: 1234567 }]';
const apps = '\napps: [{ match: . }]';
const calls = 'SELECT count(*) FROM Transaction FACET appName';
const queriesOf = (nrql: string, more = '') => `
queries:
  - { as: errors, nrql: SELECT count(*) FROM TransactionError }
  - { as: calls, nrql: ${nrql}${more} }`;

const dead: Answering = () => new ApiError('connect', 'nobody is there');
const refused = answered({ error: { title: 'Invalid API key' } }, 401);
const notUnderstood = answered({
  data: null,
  errors: [{ message: 'NRQL Syntax Error', extensions: { errorClass: 'INVALID_INPUT' } }],
});

/** Other users of the key leave so many calls in each minute of the clock. */
function fewCalls(quota: number, { platform }: RunningDaemon): Answering {
  let [minute, left] = [0, quota];
  return () => {
    const nowMs = platform.clock.monotonicMs();
    const now = Math.floor(nowMs / minuteMs);
    if (now > minute) [minute, left] = [now, quota];
    left -= 1;
    const seconds = Math.ceil(((now + 1) * minuteMs - nowMs) / 1000);
    return left >= 0 ? undefined : answered('{}', 429, { 'retry-after': String(seconds) });
  };
}

/** One call in so many gets this answer, the others another one. */
function oneCallIn(
  oneIn: number,
  status: number,
  other: Answering = () => undefined,
): NonNullable<Trouble['answer']> {
  return () => {
    let made = 0;
    return (request) => {
      made += 1;
      return made % oneIn === 0 ? answered('{}', status) : other(request);
    };
  };
}

/** No call for this application succeeds. */
const ofApplicationFails: Answering = ({ target }) =>
  target.includes(`applications/${firstId}/`) ? answered('', 500) : undefined;

const always =
  (trouble: Trouble): Cause['troubleOf'] =>
  () =>
    trouble;

export const causes: readonly Cause[] = [
  { name: 'New Relic cannot be reached', troubleOf: always({ answer: () => dead }) },
  {
    name: 'the same, from the start on',
    isFromStart: true,
    troubleOf: always({ answer: () => dead }),
  },
  {
    name: 'the same, of an account with queries only',
    config: nerdgraph + queriesOf(calls),
    troubleOf: always({ answer: () => dead }),
  },
  {
    name: 'the same, with `interval: 10m`, and a query that is asked once an hour',
    config: `${nerdgraph}\npoll: { interval: 10m }${apps}${queriesOf(calls, ', interval: 1h')}`,
    troubleOf: always({ answer: () => dead }),
  },
  { name: 'New Relic does not answer in time', troubleOf: always({ answer: () => () => 'hang' }) },
  { name: 'the key is refused', troubleOf: always({ answer: () => () => refused }) },
  { name: 'every call gets 429', troubleOf: always({ answer: () => () => answered('{}', 429) }) },
  {
    name: 'other users of the key leave a tenth of the calls, or one a minute',
    troubleOf: ({ applications }) => ({
      answer: (bench) => fewCalls(Math.max(1, applications / 10), bench),
    }),
  },
  { name: 'one call in five gets a 500', troubleOf: always({ answer: oneCallIn(5, 500) }) },
  {
    name: 'all calls for one application get a 500',
    troubleOf: always({ answer: () => ofApplicationFails }),
  },
  {
    name: 'New Relic does not understand one query',
    config: nerdgraph + apps + queriesOf(calls),
    isOfOne: true,
    troubleOf: always({
      answer:
        () =>
        ({ body = '' }) =>
          body.includes('FACET appName') ? notUnderstood : undefined,
    }),
  },
  {
    name: 'a new query has no rows',
    config: nerdgraph + apps + queriesOf(`${calls} WHERE appName = 'nobody'`),
    isOfOne: true,
    isFromStart: true,
    troubleOf: always({ mended: nerdgraph + apps + queriesOf(calls) }),
  },
  {
    name: 'a new entry of `apps` matches nothing',
    config: `${rest}\napps: [{ match: . }, { name: shpo }]`,
    isOfOne: true,
    isFromStart: true,
    troubleOf: always({ mended: rest + apps }),
  },
  {
    name: 'the file of the configuration is broken',
    isOfOne: true,
    troubleOf: always({ brokenFiles: [] }),
  },
  {
    name: 'a file that the configuration includes is broken',
    isOfOne: true,
    troubleOf: always({ brokenFiles: ['teams/a.yaml'] }),
  },
  { name: 'the exporter cannot be scraped', isOfOne: true, troubleOf: always({ isGone: true }) },
];

/** Two causes that meet: neither hides the other. */
export const pairs: readonly (Cause & { readonly alerts: readonly string[] })[] = [
  {
    name: 'an application fails, and one list in three',
    troubleOf: always({
      answer: () => {
        let lists = 0;
        return (request) => {
          if (request.operation !== 'list_applications') return ofApplicationFails(request);
          // A list is tried twice.
          lists += 1;
          return lists % 4 < 2 ? answered('', 500) : undefined;
        };
      },
    }),
    alerts: ['NewRelicExporterDataStale'],
  },
  {
    name: 'an application fails, and one call in fifteen gets 429',
    troubleOf: always({ answer: oneCallIn(15, 429, ofApplicationFails) }),
    alerts: ['NewRelicExporterDataStale', 'NewRelicExporterRateLimited'],
  },
];

/** Beside many applications hosts only take time. */
function exporterOf({ config = rest + apps, troubleOf }: Cause, scene: Scene): Exporter {
  const { applications } = scene;
  const text =
    applications === 1 ? config : `${config}\n`.replace('match: .', 'match: ., hosts: false');
  return { instance: 'a:9126', config: text, applications, firstId, trouble: troubleOf(scene) };
}

/** In minutes. What is there from the start is so for longer: an alert waits for an hour. */
export function lastsMinutes({ isFromStart = false }: Cause): number {
  return isFromStart ? 80 : 60;
}

/** What is sent, with the minutes counted from the cause on. */
export async function whatIsSent(
  cause: Cause,
  scene: Scene,
  promtoolPath: string,
): Promise<Timeline> {
  const begin = cause.isFromStart === true ? 0 : wellMinutes;
  const end = begin + lastsMinutes(cause);
  const last = end + watchedMinutes;
  const scrapeSeconds = scene.applications === 1 ? 30 : 60;
  const times: Times = { begin, end, last, scrapeMs: scrapeSeconds * 1000 };
  const well = { instance: 'b:9126', config: rest + apps, applications: 1, firstId: 9001 };
  const exporters = [exporterOf(cause, scene), ...(scene.isPair === true ? [well] : [])];
  const series = await Promise.all(exporters.map(async (one) => recordedSeries(one, times)));
  const { begun, ended } = alertTimeline(promtoolPath, series.flat(), {
    lastMinute: last,
    interval: `${scrapeSeconds}s`,
  });
  const counted = (changes: Timeline['begun']): Timeline['begun'] =>
    changes.map((change) => ({ ...change, minute: change.minute - begin }));
  return { begun: counted(begun), ended: counted(ended) };
}
