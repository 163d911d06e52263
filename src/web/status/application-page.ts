import { totalOf } from '../../model/polled-series.ts';
import { cutText } from '../../model/shown-text.ts';
import { type AppReading, applicationMetrics } from '../../model/snapshot.ts';
import type { ApplicationStatus, StatusSource } from '../../model/status.ts';
import { failureText, hostsText, measuredRate, nextPoll, valuesAge } from './applications.ts';
import { documentOf, fact, type PageContext } from './document.ts';
import { hostsSections } from './hosts.ts';
import { type Child, type Html, html } from './html.ts';
import { applicationStateViews, stateBadge } from './state-view.ts';
import { durationText, since } from './time-text.ts';
import { valuesSection } from './values-section.ts';

const longestTitle = 100;

/** Whether requests per minute are asked for, as far as it is known. */
function asksForThroughput(reading: AppReading | undefined): boolean {
  const { series = [] } = reading ?? {};
  return series.length === 0 || series.some(({ preset }) => preset === 'throughput');
}

function facts(application: ApplicationStatus, nowMs: number): Html {
  const { id, account, selector, labels, reading, intervalSeconds } = application;
  const throughput = applicationMetrics(reading);
  const { lastPollMs, lastSuccessMs } = application;
  const labelList = Object.entries(labels).map(
    ([key, value]) => html`<code>${key}=<bdi>${value}</bdi></code> `,
  );
  const timeOr = (ms: number | undefined, text: string): Child =>
    ms === undefined ? text : since(ms, nowMs);
  return html`<dl class="facts grid">
${
  asksForThroughput(reading) &&
  html`${fact('Web, requests per minute', html`<b>${measuredRate(throughput.get('web'))}</b>`)}
${fact('Other, requests per minute', html`<b>${measuredRate(throughput.get('other'))}</b>`)}
${fact('Both', measuredRate(totalOf(throughput)))}`
}
${fact('Values from', valuesAge(application, nowMs, since))}
${fact('Last poll', timeOr(lastPollMs, 'not yet'))}
${fact('Last success', timeOr(lastSuccessMs, 'never'))}
${fact('Next poll', nextPoll(application, nowMs))}
${fact('Interval', durationText(intervalSeconds * 1000))}
${fact('Hosts polled', hostsText(application))}
${fact('Account', html`<a href="./?${new URLSearchParams({ account }).toString()}"><bdi>${account}</bdi></a>`)}
${fact('Id', id)}
${fact('Entry', html`<code><bdi>${selector}</bdi></code>`)}
${labelList.length > 0 && fact('Labels', labelList)}
</dl>`;
}

/** The page of one application and its hosts; `undefined` if it is not polled. */
export function applicationPage(
  source: StatusSource,
  params: URLSearchParams,
  context: PageContext,
): string | undefined {
  const [account, id] = [params.get('account'), params.get('id')];
  const application = source.applications().find((one) => one.account === account && one.id === id);
  if (application === undefined) return undefined;
  const { nowMs } = source.process();
  const { name, state } = application;
  const view = applicationStateViews[state];
  const failure = failureText(application, nowMs, Number.POSITIVE_INFINITY);
  const main = html`<p class="back"><a href="./">All applications</a></p>
<div class="banner ${view.tone}"><h1><bdi>${name}</bdi></h1><p role="status">${stateBadge(state, view)} ${view.meaning}</p></div>
${failure !== undefined && html`<section class="problem why" aria-label="Why it fails">${failure}</section>`}
${facts(application, nowMs)}
${valuesSection(application)}
${hostsSections(application, params)}`;
  return documentOf(
    { title: `${state}: ${cutText(name, longestTitle)}`, tone: view.tone, main },
    context,
  );
}

/** What is shown in place of the page of an application that is not polled. */
export function unknownApplicationPage(params: URLSearchParams, context: PageContext): string {
  const id = params.get('id') ?? '';
  const account = params.get('account') ?? '';
  const what =
    id === '' || account === ''
      ? html`The address names no application.`
      : html`This process does not poll an application with the id <code><bdi>${id}</bdi></code> in the account <code><bdi>${account}</bdi></code>. It may be gone, belong to another shard, or not be selected.`;
  const main = html`<h1>Not found</h1>
<p>${what}</p>
<p><a href="./">All applications</a></p>`;
  return documentOf({ title: 'Not found', tone: 'none', main }, context);
}
