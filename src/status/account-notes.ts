import { cutText } from '../model/line-text.ts';
import type { AccountDetails } from '../model/status.ts';
import { type Html, html } from './html.ts';
import { countOf, countText, rateText } from './number-text.ts';
import { ago, durationText, since, until } from './time-text.ts';

/** More go into a list that opens. */
const mostMissing = 5;
/** Of thousands, the rest is for programs. */
const longestList = 100;
const longestMetric = 100;

interface MissingList {
  readonly tone: 'bad' | 'wait';
  /** What is wrong with one element, and what with several. */
  readonly one: string;
  readonly several: string;
  readonly elements: readonly Html[];
  /** How many there are. */
  readonly total: number;
  readonly metric: string;
}

function missingList({
  tone,
  one,
  several,
  elements,
  total,
  metric,
}: MissingList): Html | undefined {
  if (total === 0) return undefined;
  const separated = elements.map((element, index) => html`${index > 0 && ', '}${element}`);
  const left = total - elements.length;
  const more =
    left > 0 &&
    html` and ${countText(left)} more; the metric <code>${metric}</code> has the first thousand`;
  const what = total === 1 ? one : `${countText(total)} ${several}`;
  if (total <= mostMissing) return html`<p class="${tone}">${what}: ${separated}</p>`;
  return html`<details><summary class="${tone}">${what}</summary><p>${separated}${more}</p></details>`;
}

function missingNote({ missingSelectors }: AccountDetails): Html | undefined {
  return missingList({
    tone: 'bad',
    one: 'An entry matches nothing',
    several: 'entries match nothing',
    elements: missingSelectors
      .slice(0, longestList)
      .map((text) => html`<code><bdi>${text}</bdi></code>`),
    total: missingSelectors.length,
    metric: 'newrelic_exporter_app_missing',
  });
}

function missingMetricsNote({ missingMetrics }: AccountDetails): Html | undefined {
  return missingList({
    tone: 'wait',
    one: 'A metric never has a value',
    several: 'metrics never have a value',
    elements: missingMetrics
      .slice(0, longestList)
      .map(
        ({ selector, name, metric, value }) =>
          html`<code>${name}</code> of <code><bdi>${selector}</bdi></code> <span class="soft">(<bdi>${cutText(metric, longestMetric)}</bdi>, ${value})</span>`,
      ),
    total: missingMetrics.length,
    metric: 'newrelic_exporter_metric_missing',
  });
}

function keyNote({ key }: AccountDetails, nowMs: number): Html | undefined {
  const { location, problem, readMs } = key;
  if (problem === undefined) return undefined;
  const use =
    readMs === undefined
      ? 'No key is in use.'
      : html`The key that was read ${ago(readMs, nowMs)} stays in use; a restart would fail.`;
  return html`<p class="bad">The API key cannot be read (<bdi>${location}</bdi>): ${problem} ${use}</p>`;
}

function failingNote({ name, failingApplications }: AccountDetails): Html | undefined {
  if (failingApplications === 0) return undefined;
  const verb = failingApplications === 1 ? 'fails' : 'fail';
  const href = `./?${new URLSearchParams({ account: name }).toString()}`;
  return html`<p class="bad">${countOf(failingApplications, 'application')} ${verb}: <a href="${href}">see below</a></p>`;
}

function errorNote(
  { error, state, stateSinceMs }: AccountDetails,
  nowMs: number,
): Html | undefined {
  if (error === undefined) return undefined;
  const begun =
    state === 'down' && stateSinceMs !== undefined && html` since ${since(stateSinceMs, nowMs)}`;
  return html`<p class="bad"><b>Discovery fails</b>${begun}: ${error}</p>`;
}

function clockNote({ clockSkewSeconds }: AccountDetails): Html | undefined {
  if (clockSkewSeconds === undefined) return undefined;
  const difference = durationText(Math.abs(clockSkewSeconds) * 1000);
  const side = clockSkewSeconds > 0 ? 'ahead of' : 'behind';
  return html`<p class="wait">New Relic's clock is ${difference} ${side} this machine's: windows follow New Relic's. Check the clock of this machine.</p>`;
}

function pauseNote({ backoffUntilMs }: AccountDetails, nowMs: number): Html | undefined {
  if (backoffUntilMs === undefined || backoffUntilMs <= nowMs) return undefined;
  return html`<p class="wait"><b>Paused:</b> after a 429 from New Relic, no calls are sent until ${until(backoffUntilMs, nowMs)}.</p>`;
}

function demandNote({
  demandRequestsPerMinute: demand,
  budgetRequestsPerMinute: limit,
}: AccountDetails): Html | undefined {
  if (demand === undefined || demand <= limit) return undefined;
  return html`<p class="wait">The demand of ${rateText(demand)} calls a minute exceeds the limit of ${rateText(limit)}: intervals are stretched.</p>`;
}

function sourceNote({ source, key, metricCalls }: AccountDetails, nowMs: number): Html {
  const api = source === 'rest' ? 'REST API v2' : 'NerdGraph';
  const calls = metricCalls === undefined ? '' : `: ${metricCalls}`;
  const read = key.readMs !== undefined && html`, read ${ago(key.readMs, nowMs)}`;
  return html`<p class="soft">${api}${calls}. API key from <bdi>${key.location}</bdi>${read}.</p>`;
}

/** What is wrong with an account, the worst first, and where its key comes from. */
export function accountNotes(account: AccountDetails, nowMs: number): Html {
  return html`${errorNote(account, nowMs)}${keyNote(account, nowMs)}${failingNote(account)}${missingNote(account)}${missingMetricsNote(account)}${pauseNote(account, nowMs)}${demandNote(account)}${clockNote(account)}${sourceNote(account, nowMs)}`;
}
