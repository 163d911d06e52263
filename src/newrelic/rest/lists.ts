import type { HostNames, RequestContext } from '../../model/source.ts';
import type { JsonObject } from '../answer.ts';
import type { RestPurpose } from '../failures.ts';
import { askRest, type RestContext, type RestRequest } from './answer.ts';
import {
  applicationPageOf,
  type HostName,
  hostNamesOf,
  type PayloadApplication,
} from './application-payload.ts';
import { type PageContent, type PagedList, readPages } from './paging.ts';
import { applicationsRequest, hostsRequest } from './requests.ts';

/** Enough for 200,000 applications: nine times the longest list that anybody has reported. */
const maxPages = 1000;

/** What is specific to one list. */
interface ListQuestion<Item> {
  readonly requestOf: (page: number) => RestRequest;
  readonly contentOf: (document: JsonObject, purpose: RestPurpose) => PageContent<Item>;
  /** How many ids an item holds. */
  readonly weightOf: (item: Item) => number;
}

/**
 * Reads a list with all its pages. An abort with an `ApiError` ends it like a page that fails; any other rejects.
 */
async function readWholeList<Item extends { readonly id: string }>(
  { requestOf, contentOf, weightOf }: ListQuestion<Item>,
  context: RestContext,
  call: RequestContext,
): Promise<PagedList<Item>> {
  const purpose = requestOf(1);
  const list = await readPages<Item>(
    async (page) =>
      askRest(requestOf(page), context, call, (document, { link }) => ({
        ...contentOf(document, purpose),
        link,
      })),
    {
      purpose,
      maxPages,
      keyOf: ({ id }) => id,
      weightOf,
      onBadPage: ({ reason }) => context.observer.failed(purpose.operation, reason),
    },
  );
  // A call that was aborted on its way may have ended with an error of the transport.
  if (list.error !== undefined) call.signal.throwIfAborted();
  return list;
}

/** @param ids only these applications; `undefined`: all of the account */
export async function readApplications(
  ids: readonly string[] | undefined,
  context: RestContext,
  call: RequestContext,
): Promise<PagedList<PayloadApplication>> {
  const question: ListQuestion<PayloadApplication> = {
    requestOf: (page) => applicationsRequest(ids, page),
    contentOf: (document, purpose) => applicationPageOf(document, purpose, context),
    weightOf: ({ application }) =>
      1 + (application?.hostIds?.length ?? 0) + (application?.instances ?? 0),
  };
  return readWholeList(question, context, call);
}

/**
 * Reads the names of an application's hosts.
 *
 * @param wanted names that one host may have: it is looked for by one after the other. The result has every
 * host whose name contains one of them; if the vendor ignores or rejects the filter, all hosts, listed once.
 */
export async function readHostNames(
  applicationId: string,
  wanted: readonly string[] | undefined,
  context: RestContext,
  call: RequestContext,
): Promise<HostNames> {
  const names = new Map<string, string>();
  let calls = 0;
  const list = async (hostName?: string): Promise<PagedList<HostName>> => {
    const question: ListQuestion<HostName> = {
      requestOf: (page) => hostsRequest(applicationId, page, hostName),
      contentOf: (document, purpose) => ({
        items: hostNamesOf(document, purpose),
        error: undefined,
      }),
      weightOf: () => 1,
    };
    const found = await readWholeList(question, context, call);
    calls += found.calls;
    for (const { id, name } of found.items) names.set(id, name);
    return found;
  };
  if (wanted === undefined) return { names, error: (await list()).error, calls };
  const lowerCase = new Set(wanted.map((name) => name.toLowerCase()));
  for (const hostName of wanted) {
    const { items, error } = await list(hostName);
    if (items.some(({ name }) => lowerCase.has(name.toLowerCase()))) break;
    const isRejected = error?.status === 400 || error?.status === 422;
    if (isRejected) return { names, error: (await list()).error, calls };
    if (error !== undefined) return { names, error, calls };
    // Hosts with other names mean that the vendor ignored the filter: these are all hosts.
    if (items.some(({ name }) => !name.toLowerCase().includes(hostName.toLowerCase()))) break;
  }
  return { names, error: undefined, calls };
}
