import type { ApiError } from '../model/api-error.ts';
import type { Application } from '../model/application.ts';
import type { ApiObserver, Logger } from '../model/telemetry.ts';
import type { ApiRequest, Transport } from '../transport/transport.ts';
import { documentOf } from './answer.ts';
import { applicationPageOf } from './application-payload.ts';
import { countingFailures } from './counting-failures.ts';
import { type CallSubject, failureOf } from './failure-of-answer.ts';
import { type HostName, hostNamesOf } from './host-payload.ts';
import { type JsonObject, parseJsonKeepingIds } from './json.ts';
import { type PagedList, readPages } from './paging.ts';
import { applicationsRequest, hostsRequest } from './requests.ts';

export interface ListOptions {
  /** Pages of one list at most: a guard against one that does not end. */
  readonly maxPages: number;
}

export interface ListDependencies {
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'invalidSample' | 'failed'>;
  readonly logger: Logger;
}

/** What a listing of applications brought. */
export interface ApplicationList extends PagedList<Application> {
  /** Applications that stand in the list but could not be read. */
  readonly unreadableIds: readonly string[];
}

/** The two paged lists of the vendor, with all their pages. */
export interface ListReader {
  applications(ids: readonly string[] | undefined, signal: AbortSignal): Promise<ApplicationList>;
  hosts(applicationId: string, signal: AbortSignal): Promise<PagedList<HostName>>;
}

/** What is particular to one list. */
interface ListQuestion<Item> {
  readonly subject: CallSubject;
  readonly requestOf: (page: number) => ApiRequest;
  readonly itemsOf: (document: JsonObject) => readonly Item[];
  readonly keyOf: (item: Item) => string;
}

export function createListReader(
  { maxPages }: ListOptions,
  { send, observer, logger }: ListDependencies,
): ListReader {
  const read = async <Item>(
    { subject, requestOf, itemsOf, keyOf }: ListQuestion<Item>,
    signal: AbortSignal,
  ): Promise<PagedList<Item>> => {
    const list = await readPages(
      async (page) => {
        const response = await send(requestOf(page), signal);
        const items = countingFailures(response, subject, observer, () =>
          itemsOf(documentOf(response, subject, parseJsonKeepingIds)),
        );
        return { items, link: response.headers['link'] };
      },
      { subject, maxPages, keyOf },
    );
    // A call that was aborted on its way may have ended with an error of the transport.
    if (list.error !== undefined) signal.throwIfAborted();
    return list;
  };

  return {
    applications: async (ids, signal) => {
      const subject = {
        operation: 'list_applications',
        applicationId: undefined,
        hostId: undefined,
      } as const;
      const problems: string[] = [];
      const unreadableIds: string[] = [];
      let nameless = 0;
      const itemsOf = (document: JsonObject): readonly Application[] => {
        const page = applicationPageOf(document, subject, (reason) => {
          observer.invalidSample(reason);
        });
        problems.push(...page.malformed);
        unreadableIds.push(...page.unreadableIds);
        nameless += page.nameless;
        return page.applications;
      };
      const requestOf = (page: number): ApiRequest => applicationsRequest(ids, page);
      const list = await read({ subject, requestOf, itemsOf, keyOf: idOf }, signal);
      for (const problem of problems) {
        logger.debug({ problem }, 'a part of the list of applications was left out');
      }
      const error = list.error ?? (nameless > 0 ? partsMissing(problems, subject) : undefined);
      return { ...list, error, unreadableIds };
    },

    hosts: async (applicationId, signal) => {
      const subject = { operation: 'list_hosts', applicationId, hostId: undefined } as const;
      const requestOf = (page: number): ApiRequest => hostsRequest(applicationId, page);
      const itemsOf = (document: JsonObject): HostName[] => hostNamesOf(document, subject);
      return read({ subject, requestOf, itemsOf, keyOf: idOf }, signal);
    },
  };
}

function idOf({ id }: { readonly id: string }): string {
  return id;
}

/** Nobody can tell what the parts without an id were: the list is not the whole list. */
function partsMissing(problems: readonly string[], subject: CallSubject): ApiError {
  const [first = 'no id'] = problems;
  const detail = `parts of the list were left out (${problems.length}), the first: ${first}`;
  return failureOf(subject, 'schema', detail);
}
