import { ApiError } from '../../model/api-error.ts';
import type { Application } from '../../model/application.ts';
import type { HostNames, RequestContext } from '../../model/source.ts';
import type { ApiObserver, Logger } from '../../model/telemetry.ts';
import { countingFailures } from '../answer.ts';
import type { ApiRequest, Transport } from '../calls/transport.ts';
import { type JsonObject, parseJsonKeepingIds } from '../json.ts';
import { type CallSubject, documentOf, partsMissing } from './answer.ts';
import { applicationPageOf, type HostName, hostNamesOf } from './application-payload.ts';
import { type Page, type PagedList, readPages } from './paging.ts';
import { applicationsRequest, hostsRequest } from './requests.ts';

/** Enough for 200,000 applications: nine times the longest list that anybody has reported. */
const maxPages = 1000;

export interface ListDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
}

export interface ApplicationList extends PagedList<Application> {
  /** Applications that are in the list but could not be read. */
  readonly unreadableIds: readonly string[];
}

/**
 * Reads the two paged lists of the vendor, with all their pages. An abort with an `ApiError` ends a
 * list like a page that fails. An abort with any other reason rejects with that reason.
 */
export interface ListReader {
  applications(
    ids: readonly string[] | undefined,
    context: RequestContext,
  ): Promise<ApplicationList>;
  hosts(
    question: {
      readonly applicationId: string;
      /** Only hosts whose names contain this. */
      readonly hostName?: string | undefined;
    },
    context: RequestContext,
  ): Promise<PagedList<HostName>>;
}

/** What is specific to one list. */
interface ListQuestion<Item> {
  readonly subject: CallSubject;
  readonly requestOf: (page: number) => ApiRequest;
  readonly contentOf: (document: JsonObject) => PageContent<Item>;
  /** How many ids an item holds. */
  readonly weightOf: (item: Item) => number;
}

type PageContent<Item> = Pick<Page<Item>, 'items' | 'error'>;

/** An element of the list of applications; without `application` if it could not be read. */
interface ListedApplication {
  readonly id: string;
  readonly application: Application | undefined;
}

export const applicationsSubject: CallSubject = {
  operation: 'list_applications',
  applicationId: undefined,
  hostId: undefined,
};

export function createListReader({ send, observer, logger }: ListDependencies): ListReader {
  const read = async <Item extends { readonly id: string }>(
    { subject, requestOf, contentOf, weightOf }: ListQuestion<Item>,
    { signal, turn, isRepeated }: RequestContext,
  ): Promise<PagedList<Item>> => {
    const list = await readPages<Item>(
      async (page) => {
        const response = await send({ ...requestOf(page), turn, isRepeated }, signal);
        const content = countingFailures(response, subject, observer, () =>
          contentOf(documentOf(response, subject, parseJsonKeepingIds)),
        );
        return { ...content, link: response.headers['link'] };
      },
      {
        subject,
        maxPages,
        keyOf: ({ id }) => id,
        weightOf,
        onBadPage: ({ reason }) => {
          observer.failed(subject.operation, reason);
        },
      },
    );
    return withReasonOf(signal, list);
  };

  return {
    applications: async (ids, context) => {
      const { items, error, calls } = await read(
        {
          subject: applicationsSubject,
          requestOf: (page) => applicationsRequest(ids, page),
          contentOf: (document) => listedApplicationsOf(document, { observer, logger }),
          weightOf: ({ application }) =>
            1 + (application?.hostIds?.length ?? 0) + (application?.instances ?? 0),
        },
        context,
      );
      return {
        items: items.flatMap(({ application }) => application ?? []),
        unreadableIds: items.flatMap(({ id, application }) => (application ? [] : id)),
        error,
        calls,
      };
    },

    hosts: async ({ applicationId, hostName }, context) => {
      const subject = { operation: 'list_hosts', applicationId, hostId: undefined } as const;
      const requestOf = (page: number): ApiRequest => hostsRequest(applicationId, page, hostName);
      const contentOf = (document: JsonObject): PageContent<HostName> => ({
        items: hostNamesOf(document, subject),
        error: undefined,
      });
      return read({ subject, requestOf, contentOf, weightOf: () => 1 }, context);
    },
  };
}

/**
 * A call that was aborted on its way may have ended with an error of the transport: the reason of
 * the abort takes its place.
 */
function withReasonOf<Item>(signal: AbortSignal, list: PagedList<Item>): PagedList<Item> {
  if (list.error === undefined || !signal.aborted) return list;
  if (!(signal.reason instanceof ApiError)) throw signal.reason;
  return { ...list, error: signal.reason };
}

function listedApplicationsOf(
  document: JsonObject,
  { observer, logger }: Pick<ListDependencies, 'observer' | 'logger'>,
): PageContent<ListedApplication> {
  const page = applicationPageOf(document, applicationsSubject, (reason) => {
    observer.invalidSample(reason);
  });
  for (const problem of page.malformed) {
    logger.debug({ problem }, 'a part of the list of applications was left out');
  }
  return {
    items: [
      ...page.applications.map((application) => ({ id: application.id, application })),
      ...page.unreadableIds.map((id) => ({ id, application: undefined })),
    ],
    // Nobody can tell what the parts without an id were.
    error: partsMissing(
      page.unidentified.length,
      applicationsSubject,
      `, the first: ${page.unidentified[0]}`,
    ),
  };
}

export interface HostQuestion {
  readonly applicationId: string;
  readonly wanted: readonly string[];
}

/**
 * Looks for one host by its names, until one of them is found. The vendor finds every host whose
 * name contains the text; the result has those names as well. If the vendor ignores the filter or
 * rejects it, all hosts are listed, once.
 */
export async function findHost(
  lists: Pick<ListReader, 'hosts'>,
  { applicationId, wanted }: HostQuestion,
  context: RequestContext,
): Promise<HostNames> {
  const names = new Map<string, string>();
  const lowerCase = new Set(wanted.map((name) => name.toLowerCase()));
  let calls = 0;
  const ask = async (hostName: string | undefined): Promise<PagedList<HostName>> => {
    const list = await lists.hosts({ applicationId, hostName }, context);
    calls += list.calls;
    for (const { id, name } of list.items) names.set(id, name);
    return list;
  };
  for (const hostName of wanted) {
    const { items, error } = await ask(hostName);
    if (items.some(({ name }) => lowerCase.has(name.toLowerCase()))) break;
    if (isBadRequest(error)) return { names, error: (await ask(undefined)).error, calls };
    if (error !== undefined) return { names, error, calls };
    // Hosts with other names mean that the vendor ignored the filter: these are all hosts.
    if (items.some(({ name }) => !name.toLowerCase().includes(hostName.toLowerCase()))) break;
  }
  return { names, error: undefined, calls };
}

/** Whether the vendor rejected the filter of the request. */
function isBadRequest(error: ApiError | undefined): boolean {
  return error?.status === 400 || error?.status === 422;
}
