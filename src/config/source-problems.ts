import { nerdgraphConcurrency } from './account-schema.ts';
import { errorAt, type Problem } from './diagnostic.ts';
import { type LocatedMap, type Span, textEntry } from './located.ts';
import { hasMisspelt } from './shape-problems.ts';

const missingAccountId = '"source: nerdgraph" needs "account_id", the id of the New Relic account';

const accountIdHelp =
  'run newrelic-exporter check-config --online, which proposes it, or look it up in New Relic: user menu, API keys';

/** Whether the problem is that an account has no id, which the vendor can be asked for. */
export function isMissingAccountId({ message }: Problem): boolean {
  return message === missingAccountId;
}

function withoutAccountId(account: LocatedMap, source: Span): readonly Problem[] {
  const isThere = account.entries.has('account_id') || hasMisspelt(account, ['account_id']);
  return isThere ? [] : [errorAt(source, missingAccountId, accountIdHelp)];
}

function tooMuchConcurrency(account: LocatedMap): readonly Problem[] {
  const concurrency = account.entries.get('concurrency')?.value;
  if (concurrency?.kind !== 'scalar') return [];
  const { value, span } = concurrency;
  if (!Number.isSafeInteger(value) || Number(value) <= nerdgraphConcurrency) return [];
  const message =
    `"concurrency" must be at most ${nerdgraphConcurrency} with "source: nerdgraph": ` +
    `NerdGraph refuses more than ${nerdgraphConcurrency} requests in flight per user`;
  return [errorAt(span, message, 'New Relic advises 5, the default')];
}

/** What an account with `source: nerdgraph` must have, and must not. */
export function sourceProblems(account: LocatedMap): readonly Problem[] {
  const source = textEntry(account, 'source');
  if (source?.text !== 'nerdgraph') return [];
  return [...withoutAccountId(account, source.span), ...tooMuchConcurrency(account)];
}
