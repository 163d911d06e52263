import { type Answer, documentAnswer, errorAnswer } from './answer.ts';
import {
  applicationDocument,
  applicationsDocument,
  hostDocument,
  hostsDocument,
} from './documents.ts';
import type { SimulatedAccount } from './fleet.ts';
import { metricsOf } from './metric-catalogue.ts';
import { metricDataAnswer } from './metric-data.ts';
import { valueNamesOf } from './metric-values.ts';
import { type Endpoint, lastOf, listsMetricNames } from './request.ts';
import { records, type SimulatedApplication, type SimulatedHost } from './simulated-application.ts';
import type { SimulatorOptions } from './simulator-options.ts';

/** The vendor's links have its own host, whatever host the request was sent to. */
const linkOrigin = 'https://api.newrelic.com';

// The vendor documents the first text; the others are modelled on it.
const noApplication = errorAnswer(404, 'No Application found with the given ID');
const noHost = errorAnswer(404, 'No Host found with the given ID');
const noSuchPath = errorAnswer(404, 'Not Found');

interface ListRequest {
  readonly path: string;
  readonly query: URLSearchParams;
}

function linkHeader(path: string, page: number, lastPage: number): string {
  const link = (rel: string, target: number): string =>
    `<${linkOrigin}${path}?page=${target}>; rel="${rel}"`;
  return [
    ...(page < lastPage ? [link('next', page + 1), link('last', lastPage)] : []),
    ...(page > 1 ? [link('first', 1), link('prev', Math.min(page - 1, lastPage))] : []),
  ].join(', ');
}

/**
 * The answer with one page of a list. A page past the end is empty and has no next page; everything but a
 * positive whole number means page 1. Where everything fits on one page, there are no links.
 */
function pageAnswer<Item>(
  all: readonly Item[],
  pageSize: number,
  { path, query }: ListRequest,
  documentOf: (items: readonly Item[]) => unknown,
): Answer {
  const text = lastOf(query, 'page') ?? '';
  const page = /^[1-9]\d{0,8}$/.test(text) ? Number(text) : 1;
  const lastPage = Math.max(1, Math.ceil(all.length / pageSize));
  const items = all.slice((page - 1) * pageSize, page * pageSize);
  const link = lastPage === 1 ? undefined : linkHeader(path, page, lastPage);
  return documentAnswer(documentOf(items), link);
}

/** Answers requests to the REST API with a valid key and within the quota. */
export class RestRoutes {
  readonly #options: SimulatorOptions;
  readonly #account: SimulatedAccount;
  #rotations = 0;

  constructor(options: SimulatorOptions, account: SimulatedAccount) {
    this.#options = options;
    this.#account = account;
  }

  answer(endpoint: Endpoint | undefined, path: string, queryText: string): Answer {
    if (endpoint === undefined || endpoint.kind === 'graphql') return noSuchPath;
    const request = { path, query: new URLSearchParams(queryText) };
    if (endpoint.kind === 'hosts' && this.#options.hostsEndpoint === false) return noSuchPath;
    if (endpoint.kind === 'applications') return this.#applications(request);
    const application = this.#account.fleet.application(Number(endpoint.applicationId));
    if (application === undefined) return noApplication;
    if (endpoint.kind === 'hosts') return this.#hosts(application, request);
    const host = application.hosts.get(Number(endpoint.hostId));
    if (endpoint.hostId !== undefined && !this.#has(host)) return noHost;
    return listsMetricNames(endpoint)
      ? this.#metricNames(application, request)
      : metricDataAnswer({ application, host, query: request.query }, this.#options, this.#account);
  }

  /** Whether there are answers about a host of an application. */
  #has(host: SimulatedHost | undefined): boolean {
    const isGone = host?.endedMs !== undefined && this.#options.removedHost === 'not_found';
    return host !== undefined && !isGone;
  }

  #applications(request: ListRequest): Answer {
    const { fleet, clock } = this.#account;
    const ids = lastOf(request.query, 'filter[ids]')?.split(',');
    const found = fleet
      .applications()
      .filter(({ id }) => ids === undefined || ids.includes(String(id)));
    return pageAnswer(this.#ordered(found), this.#options.pageSize ?? 200, request, (items) =>
      applicationsDocument(
        items.map((application) =>
          applicationDocument(application, {
            nowMs: clock.wallMs(),
            listedHosts: fleet.listedHosts(application),
            throughput: this.#throughput(application),
          }),
        ),
      ),
    );
  }

  /** `filter[hostname]` matches a part of the name. */
  #hosts(application: SimulatedApplication, request: ListRequest): Answer {
    const part = lastOf(request.query, 'filter[hostname]') ?? '';
    const found = this.#account.fleet
      .listedHosts(application)
      .filter(({ name }) => name.includes(part));
    return pageAnswer(this.#ordered(found), this.#options.pageSize ?? 200, request, (items) =>
      hostsDocument(
        items.map((host) => hostDocument(application, host, this.#throughput(application, host))),
      ),
    );
  }

  /** `name` matches a part of the names and ignores case. */
  #metricNames(application: SimulatedApplication, request: ListRequest): Answer {
    const part = lastOf(request.query, 'name')?.toLowerCase() ?? '';
    const all = metricsOf(application)
      .filter(({ name }) => name.toLowerCase().includes(part))
      .toSorted((left, right) => (left.name < right.name ? -1 : 1));
    return pageAnswer(all, this.#options.metricNamesPageSize ?? 1000, request, (items) => ({
      metrics: items.map(({ name, kind }) => ({ name, values: valueNamesOf(kind) })),
    }));
  }

  #throughput(application: SimulatedApplication, host?: SimulatedHost): number {
    const isWeb = records(application, 'HttpDispatcher');
    const metric = isWeb ? 'HttpDispatcher' : 'OtherTransaction/all';
    return this.#account.calls.recentRate(application, host, metric);
  }

  #ordered<Item>(items: readonly Item[]): readonly Item[] {
    if (this.#options.shuffle !== 'per_call') return items;
    this.#rotations += 1;
    const start = items.length === 0 ? 0 : this.#rotations % items.length;
    return [...items.slice(start), ...items.slice(0, start)];
  }
}
