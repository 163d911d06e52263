import { cutText } from '../model/line-text.ts';
import { applicationMetrics } from '../model/snapshot.ts';
import type { ApplicationStatus } from '../model/status.ts';
import { polledHostsOf } from './application-list.ts';
import { type Html, html } from './html.ts';
import { countText, rateText, unknown } from './number-text.ts';
import { sparkline } from './sparkline.ts';
import { applicationStateViews, stateBadge } from './state-view.ts';
import { ago, due, since, until } from './time-text.ts';

/** Names are up to 255 characters at New Relic, but nothing ensures it. */
const longestName = 100;
/** The page of the application has the rest. */
const longestMessage = 600;

/** The address of the page of an application. */
export function applicationHref(account: string, id: string): string {
  return `./applications?${new URLSearchParams({ account, id }).toString()}`;
}

/** What was measured last: a rate, or a dash. */
export function rateCell(value: number | undefined, className: string): Html {
  const text = value === undefined ? unknown('New Relic gave no value') : rateText(value);
  return html`<td class="n ${className}">${text}</td>`;
}

/** From when the published values are. */
export function valuesAge({ reading, isHeld }: ApplicationStatus, nowMs: number): Html {
  if (reading === undefined) return unknown('Nothing is published');
  if (reading.windowEndMs === undefined) return unknown('New Relic had no data in its window');
  const held = isHeld && html`<span class="state wait">held</span> `;
  return html`${held}${ago(reading.windowEndMs, nowMs)}`;
}

export function hostsText(application: ApplicationStatus): Html {
  const { hostIds, failedHostIds } = application;
  if (hostIds.length === 0) return unknown('No hosts are polled');
  const all = countText(hostIds.length);
  if (failedHostIds.size === 0) return html`${all}`;
  return html`<b class="bad">${countText(polledHostsOf(application))}</b> of ${all}`;
}

/** What happens to the values while polls fail. */
function valuesOutlook(
  { state, isHeld, dropMs }: ApplicationStatus,
  nowMs: number,
): Html | undefined {
  if (dropMs === undefined) return undefined;
  if (state === 'dropped') return html`Its values were dropped at ${since(dropMs, nowMs)}.`;
  if (!isHeld) return undefined;
  return html`Older values are held; they are dropped at ${until(dropMs, nowMs)} unless a poll succeeds.`;
}

/** Why it fails and since when; nothing if it does not. */
export function failureText(
  application: ApplicationStatus,
  nowMs: number,
  longest: number,
): Html | undefined {
  const { failure, state } = application;
  if (failure === undefined) return undefined;
  const { reason, message, sinceMs } = failure;
  const outlook = valuesOutlook(application, nowMs);
  return html`<p class="${applicationStateViews[state].tone}"><b>${reason}</b> since ${since(sinceMs, nowMs)}: ${cutText(message, longest)}</p>
${outlook !== undefined && html`<p>${outlook}</p>`}`;
}

export interface RowOptions {
  readonly nowMs: number;
  /** Whether the name of the account is shown. */
  readonly hasAccount: boolean;
  /** Whether the id is shown, because others have the same name. */
  readonly hasId: boolean;
  readonly columns: number;
}

/** An application as a group of rows: its values, and if it fails, why. */
export function applicationRow(
  application: ApplicationStatus,
  history: readonly (number | undefined)[],
  { nowMs, hasAccount, hasId, columns }: RowOptions,
): Html {
  const { account, id, name, state, reading, lastPollMs, nextPollMs } = application;
  const throughput = applicationMetrics(reading);
  const failure = failureText(application, nowMs, longestMessage);
  const last = lastPollMs === undefined ? html`not yet` : ago(lastPollMs, nowMs);
  const next = state === 'silent' ? unknown('It is not polled') : due(nextPollMs, nowMs);
  return html`<tbody data-key="${account}/${id}">
<tr><td class="c-state">${stateBadge(state, applicationStateViews[state])}</td><th scope="row"><a href="${applicationHref(account, id)}"><bdi>${cutText(name, longestName)}</bdi></a>${hasId && html` <span class="soft">${id}</span>`}</th>${
    hasAccount && html`<td class="c-account"><bdi>${cutText(account, longestName)}</bdi></td>`
  }${rateCell(throughput.get('web'), 'c-web')}${rateCell(throughput.get('other'), 'c-other')}<td class="c-spark">${sparkline(history)}</td><td class="n c-values">${valuesAge(application, nowMs)}</td><td class="n c-polled">${last}</td><td class="n c-next">${next}</td><td class="n c-hosts">${hostsText(application)}</td></tr>
${failure !== undefined && html`<tr class="why"><td colspan="${columns}">${failure}</td></tr>\n`}</tbody>
`;
}
