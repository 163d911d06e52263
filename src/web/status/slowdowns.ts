import { type AccountDetails, mostStretch } from '../../model/status.ts';
import { countOf, rateText } from './number-text.ts';

/** What makes the polls of an account rarer than they were meant to be, each with its number and cause. */
export function slowdownsOf(account: AccountDetails): readonly string[] {
  return [...refusalText(account), ...stretchText(account)];
}

function refusalText(account: AccountDetails): readonly string[] {
  const { refusals, requestsPerMinute: full, budgetRequestsPerMinute: limit } = account;
  if (refusals === undefined) return [];
  const last = new Date(refusals.lastMs).toISOString().slice(11, 19);
  const refused = `New Relic refused ${countOf(refusals.calls, 'call')}, the last at ${last} UTC`;
  return [
    account.isReduced
      ? `limit lowered from ${rateText(full)} to ${rateText(limit)}: ${refused}`
      : refused,
  ];
}

function stretchText(account: AccountDetails): readonly string[] {
  const { stretch, demandRequestsPerMinute: demand = 0, budgetRequestsPerMinute: limit } = account;
  if (stretch <= mostStretch) return [];
  const needed = `${rateText(demand)} calls a minute needed`;
  const cause = demand > limit ? `${rateText(limit)} allowed` : 'New Relic answers too slowly';
  return [`intervals stretched ${stretch.toFixed(1)} times: ${needed}, ${cause}`];
}
