import { problemsOfProcess } from '../../model/problem.ts';
import { countOf, durationText } from '../../model/shown-text.ts';
import type { ProcessStatus, ReloadStatus, StatusSource } from '../../model/status.ts';
import { accountsSection } from './accounts.ts';
import { applicationsSection } from './applications.ts';
import { documentOf, fact, type PageContext } from './document.ts';
import { type Child, type Html, html } from './html.ts';
import { queriesSection } from './queries.ts';
import { overallStateOf, problemNote } from './state.ts';
import { absoluteText, ago, since } from './texts.ts';

function reloadText({ lastAttemptMs, problem, brokenFiles }: ReloadStatus, nowMs: number): Child {
  if (lastAttemptMs === undefined) return 'not yet';
  const accepted = brokenFiles.length === 0 ? ['good', 'accepted'] : ['bad', 'accepted in part'];
  const [tone, result] = problem === undefined ? accepted : ['bad', 'refused'];
  return html`<span class="state ${tone}">${result}</span> ${ago(lastAttemptMs, nowMs)}`;
}

/** Why the last configuration is not active, with its text; nothing if it is. */
function reloadProblem({
  reload: { problem, inForceSinceMs, lastAttemptMs },
  nowMs,
}: ProcessStatus): Html | undefined {
  if (problem === undefined) return undefined;
  const [title, effect] =
    inForceSinceMs === undefined
      ? [
          'Waiting for the configuration',
          'Nothing is polled until it is usable. It is tried again every few seconds.',
        ]
      : ['The configuration has an error', 'It was refused: the previous one stays active.'];
  const when = lastAttemptMs !== undefined && html` Last tried ${since(lastAttemptMs, nowMs)}.`;
  return html`<section class="problem" aria-labelledby="problem"><h2 id="problem" class="bad">${title}</h2>
<p>${effect}${when}</p>
<pre tabindex="0">${problem}</pre></section>`;
}

/** What is wrong with included files. */
function brokenFilesSection({ reload: { brokenFiles } }: ProcessStatus): Html | undefined {
  if (brokenFiles.length === 0) return undefined;
  return html`<section class="problem" aria-labelledby="broken"><h2 id="broken" class="bad">${countOf(brokenFiles.length, 'included file has an error', 'included files have errors')}</h2>
${brokenFiles.map(({ problem }) => html`<pre tabindex="0">${problem}</pre>`)}</section>`;
}

/** The running program: what it is, and which configuration it follows. */
function processFacts(process: ProcessStatus): Html {
  const { nowMs, startedMs, build, shard, reload } = process;
  const { inForceSinceMs, includedFiles } = reload;
  const included = countOf(includedFiles.length, 'included file');
  return html`<dl class="facts">
${fact('Version', html`${build.version}${build.revision !== 'unknown' && html` <span class="soft">(${build.revision})</span>`}`)}
${fact('Node', build.nodeVersion)}
${fact('Running for', html`<time datetime="${new Date(startedMs).toISOString()}">${durationText(nowMs - startedMs)}</time>`)}
${fact('Shard', shard.total === 1 ? 'not sharded' : `${shard.ordinal} (0 to ${shard.total - 1})`)}
${fact('Configuration', html`<a href="./config"><bdi>${reload.configFile}</bdi></a>${includedFiles.length > 0 && ` and ${included}`}`)}
${fact('Loaded', inForceSinceMs === undefined ? 'none yet' : ago(inForceSinceMs, nowMs))}
${fact('Last read', reloadText(reload, nowMs))}
</dl>`;
}

/** The active configuration with all defaults, and what became of the last one that was read. */
export function configPage(source: StatusSource, context: PageContext): string {
  const process = source.process();
  const { problem, brokenFiles } = process.reload;
  const text = source.effectiveConfig();
  const active =
    text === undefined
      ? html`<p class="empty">No configuration is loaded.</p>`
      : html`<p class="soft">With every default, and without any secret. <a href="./config?format=yaml">As YAML</a></p>
<pre class="config" tabindex="0">${text}</pre>`;
  const main = html`<h1>Configuration</h1>
${processFacts(process)}
${reloadProblem(process)}
${brokenFilesSection(process)}
<section aria-labelledby="active"><h2 id="active">Active</h2>
${active}</section>`;
  const tone = problem === undefined && brokenFiles.length === 0 ? 'good' : 'bad';
  return documentOf({ title: 'Configuration', tone, current: './config', main }, context);
}

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
  const overall = overallStateOf(accounts, applications, process);
  const { state, tone, sentence } = overall;
  const ofProcess = problemsOfProcess(process, accounts).filter(
    ({ kind }) => kind !== 'config_broken' && kind !== 'config_file_broken',
  );
  const hasApplications = accounts.length === 0 || accounts.some((one) => one.hasApplications);
  const main = html`<div class="banner ${tone}"><h1><span class="state ${tone}">${state}</span></h1><p role="status">${sentence}</p><p class="soft as-of">As of <time datetime="${new Date(nowMs).toISOString()}">${absoluteText(nowMs)}</time></p></div>
${processFacts(process)}
${reloadProblem(process)}
${brokenFilesSection(process)}
${ofProcess.length > 0 && html`<section class="problem" aria-label="Problems of the process">${ofProcess.map((problem) => problemNote(problem, nowMs))}</section>`}
${accountsSection(accounts, params.get('account') ?? '', nowMs)}
${queriesSection(accounts, params, nowMs)}
${hasApplications && applicationsSection(source, applications, params, nowMs)}`;
  return documentOf({ title: `${state}: ${sentence}`, tone, current: './', main }, context);
}
