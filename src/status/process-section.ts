import type { ProcessStatus, ReloadStatus } from '../model/status.ts';
import { type Child, type Html, html } from './html.ts';
import type { PageContext } from './page-context.ts';
import { addressesOf, scrapeConfig } from './scrape-config.ts';
import { ago, durationText, since } from './time-text.ts';

function fact(name: string, value: Child): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

function shardText({ shard }: ProcessStatus, context: PageContext): Child {
  const { ordinal, total } = shard;
  if (total === 1) return 'not sharded';
  const scheme = context.hasTls ? 'https' : 'http';
  const others = addressesOf(shard, context)?.flatMap((address, number) =>
    number === ordinal ? [] : [html` <a href="${scheme}://${address}/">${number}</a>`],
  );
  return html`${ordinal} of ${total}, counted from 0${others !== undefined && html`; others:${others}`}`;
}

function inForceText({ inForceSinceMs }: ReloadStatus, nowMs: number): Child {
  return inForceSinceMs === undefined ? 'none yet' : html`since ${ago(inForceSinceMs, nowMs)}`;
}

function reloadText({ lastAttemptMs, problem }: ReloadStatus, nowMs: number): Child {
  if (lastAttemptMs === undefined) return 'not yet';
  const result =
    problem === undefined
      ? html`<span class="state good">accepted</span>`
      : html`<span class="state bad">refused</span>`;
  return html`${result} ${ago(lastAttemptMs, nowMs)}`;
}

/** Why the last configuration is not in force, with its text; nothing if it is. */
export function reloadProblem({
  reload: { problem, inForceSinceMs, lastAttemptMs },
  nowMs,
}: ProcessStatus): Html | undefined {
  if (problem === undefined) return undefined;
  const effect =
    inForceSinceMs === undefined
      ? 'Nothing is polled until it is usable. It is tried again every few seconds.'
      : 'It was refused: the previous one stays in force.';
  const when = lastAttemptMs !== undefined && html` Last tried ${since(lastAttemptMs, nowMs)}.`;
  return html`<section class="problem" aria-labelledby="problem"><h2 id="problem" class="bad">The configuration has an error</h2>
<p>${effect}${when}</p>
<pre tabindex="0">${problem}</pre></section>`;
}

/** The running program: what it is, and which configuration it follows. */
export function processFacts(process: ProcessStatus, context: PageContext): Html {
  const { nowMs, startedMs, build, reload } = process;
  return html`<dl class="facts">
${fact('Version', html`${build.version} <span class="soft">(${build.revision})</span>`)}
${fact('Node', build.nodeVersion)}
${fact('Running for', html`<time datetime="${new Date(startedMs).toISOString()}">${durationText(nowMs - startedMs)}</time>`)}
${fact('Shard', shardText(process, context))}
${fact('Configuration', html`<a href="./config"><bdi>${reload.configFile}</bdi></a>`)}
${fact('In force', inForceText(reload, nowMs))}
${fact('Last read', reloadText(reload, nowMs))}
</dl>`;
}

/** What to paste into the configuration of Prometheus; opens on demand. */
export function scrapeSection({ shard }: ProcessStatus, context: PageContext): Html {
  return html`<details class="scrape"><summary>Scrape this exporter with Prometheus</summary>
<pre tabindex="0">${scrapeConfig(shard, context)}</pre></details>`;
}
