import { type Answer, errorAnswer } from './answer.ts';
import {
  type AccountDependencies,
  createApplicationRoutes,
  type ListOptions,
} from './application-routes.ts';
import { createMetricNameRoute, type MetricNameOptions } from './metric-name-routes.ts';
import { createMetricRoute, type MetricOptions } from './metric-routes.ts';
import { type Endpoint, listsMetricNames, parseQuery } from './request.ts';
import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';

export interface RouteOptions extends ListOptions, MetricOptions, MetricNameOptions {
  /** Whether hosts.json exists; otherwise it answers 404 like an unknown path. */
  readonly hostsEndpoint: boolean;
  /** The metric answer for a stopped host: 404, or 200 with the rest of its data. */
  readonly removedHost: 'not_found' | 'empty';
}

/** Answers a request to the REST API with a valid key and within the quota. */
export type Routes = (endpoint: Endpoint | undefined, path: string, query: string) => Answer;

// The vendor documents the first text; the others are modelled on it.
const noApplication = errorAnswer(404, 'No Application found with the given ID');
const noHost = errorAnswer(404, 'No Host found with the given ID');
const noSuchPath = errorAnswer(404, 'Not Found');

export function createRoutes(options: RouteOptions, dependencies: AccountDependencies): Routes {
  const { fleet } = dependencies;
  const lists = createApplicationRoutes(options, dependencies);
  const metrics = createMetricRoute(options, dependencies);
  const metricNames = createMetricNameRoute(options);

  const hostAnswer = (
    endpoint: Endpoint,
    application: SimulatedApplication,
    host: SimulatedHost,
    path: string,
    query: string,
  ): Answer => {
    if (endpoint.kind === 'host') {
      const listed = fleet.listedHosts(application).includes(host);
      return listed ? lists.host(application, host) : noHost;
    }
    const gone = host.endedMs !== undefined && options.removedHost === 'not_found';
    if (gone) return noHost;
    if (listsMetricNames(endpoint)) return metricNames(application, path, parseQuery(query));
    return metrics(application, host, parseQuery(query));
  };

  const applicationAnswer = (
    endpoint: Endpoint,
    application: SimulatedApplication,
    path: string,
    query: string,
  ): Answer => {
    if (endpoint.hostId !== undefined) {
      const host = application.hosts.get(Number(endpoint.hostId));
      return host === undefined ? noHost : hostAnswer(endpoint, application, host, path, query);
    }
    if (endpoint.kind === 'application') return lists.application(application);
    if (endpoint.kind === 'hosts') return lists.hosts(application, path, parseQuery(query));
    if (listsMetricNames(endpoint)) return metricNames(application, path, parseQuery(query));
    return metrics(application, undefined, parseQuery(query));
  };

  return (endpoint, path, query) => {
    if (endpoint === undefined || endpoint.kind === 'graphql') return noSuchPath;
    const namesHosts = endpoint.kind === 'hosts' || endpoint.kind === 'host';
    if (namesHosts && !options.hostsEndpoint) return noSuchPath;
    if (endpoint.kind === 'applications') return lists.applications(path, parseQuery(query));
    const application = fleet.application(Number(endpoint.applicationId));
    if (application === undefined) return noApplication;
    return applicationAnswer(endpoint, application, path, query);
  };
}
