import type { ApiObserver } from '../model/telemetry.ts';
import { failureOf, statusOf } from '../nerdgraph/failures.ts';
import { answerOf } from '../nerdgraph/graphql-client.ts';
import { countingFailures, excerptOf } from '../newrelic/answer.ts';
import { entityIdOf, isJsonObject, parseJsonKeepingIds } from '../newrelic/json.ts';
import type { Transport } from '../transport/transport.ts';

/** An account that the user of a key may see. */
export interface VisibleAccount {
  readonly id: number;
  /** Fit for one line of text; empty if there is none. */
  readonly name: string;
}

export interface VisibleAccountsDependencies {
  /** The account's transport: paced, limited, retried and measured. */
  readonly send: Transport;
  readonly observer: Pick<ApiObserver, 'failed'>;
}

/** The only query that needs no account. */
const accountsDocument = '{ actor { accounts { id name } } }';

const purpose = { operation: 'list_applications', accountId: undefined } as const;

/**
 * The accounts that the user of the key may see, by name. Rejects with an `ApiError` or with the
 * signal's reason. Nothing else is asked of a key whose account is not known, so the answer may come
 * from a transport that does not know NerdGraph's failures.
 */
export async function listVisibleAccounts(
  { send, observer }: VisibleAccountsDependencies,
  signal: AbortSignal,
): Promise<readonly VisibleAccount[]> {
  const body = JSON.stringify({ query: accountsDocument });
  const { operation } = purpose;
  const request = { operation, target: '/graphql', body, answerSize: 'medium' } as const;
  const answer = await send(request, signal);
  const response = { ...answer, status: statusOf(answer) };
  return countingFailures(response, purpose, observer, () => {
    const elements = answerOf(response, purpose, parseJsonKeepingIds).part;
    if (!Array.isArray(elements)) {
      throw failureOf(purpose, 'schema', 'the answer has no list of accounts', response.status);
    }
    return elements
      .map(visibleAccountOf)
      .filter((account) => account !== undefined)
      .toSorted(byName);
  });
}

function visibleAccountOf(element: unknown): VisibleAccount | undefined {
  if (!isJsonObject(element)) return undefined;
  const id = Number(entityIdOf(element['id']) ?? 0);
  const { name } = element;
  // An account that cannot be configured cannot be proposed either.
  if (id < 1 || !Number.isSafeInteger(id)) return undefined;
  return { id, name: typeof name === 'string' ? excerptOf(name) : '' };
}

function byName(left: VisibleAccount, right: VisibleAccount): number {
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return left.id - right.id;
}
