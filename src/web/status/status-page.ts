import type { StatusSource } from '../../model/status.ts';
import { accountsSection } from './accounts.ts';
import { applicationsSection } from './applications.ts';
import { documentOf, type PageContext } from './document.ts';
import { html } from './html.ts';
import { countStates, overallStateOf } from './overall-state.ts';
import { processFacts, reloadProblem } from './process.ts';
import { queriesSection } from './queries.ts';
import { accountView } from './state-view.ts';
import { absoluteText } from './time-text.ts';

/** The page that says how everything is: the process, the accounts, the applications. */
export function statusPage(
  source: StatusSource,
  params: URLSearchParams,
  context: PageContext,
): string {
  const process = source.process();
  const { nowMs } = process;
  const accounts = source.accounts();
  const applications = source.applications();
  const overall = overallStateOf(accounts, countStates(applications), process);
  const { state, sentence } = overall;
  const { tone } = accountView(state, overall.works);
  const hasApplications = accounts.length === 0 || accounts.some((one) => one.hasApplications);
  const main = html`<div class="banner ${tone}"><h1><span class="state ${tone}">${state}</span></h1><p role="status">${sentence}</p><p class="soft as-of">As of <time datetime="${new Date(nowMs).toISOString()}">${absoluteText(nowMs)}</time></p></div>
${processFacts(process)}
${reloadProblem(process)}
${accountsSection(accounts, applications, params.get('account') ?? '', nowMs)}${queriesSection(accounts, params.get('account') ?? '', nowMs)}
${hasApplications && applicationsSection(source, applications, params, nowMs)}`;
  return documentOf({ title: `${state}: ${sentence}`, tone, current: 'status', main }, context);
}
