import type { StatusSource } from '../model/status.ts';
import { documentOf } from './document.ts';
import { html } from './html.ts';
import type { PageContext } from './page-context.ts';
import { processFacts, reloadProblem } from './process-section.ts';

/** The configuration in force with all defaults, and what became of the last one that was read. */
export function configPage(source: StatusSource, context: PageContext): string {
  const process = source.process();
  const { problem } = process.reload;
  const text = source.effectiveConfig();
  const inForce =
    text === undefined
      ? html`<p class="empty">No configuration is in force.</p>`
      : html`<p class="soft">With every default, and without any secret. <a href="./config?format=yaml">As YAML</a></p>
<pre class="config" tabindex="0">${text}</pre>`;
  const main = html`<h1>Configuration</h1>
${processFacts(process, context)}
${reloadProblem(process)}
<section aria-labelledby="in-force"><h2 id="in-force">In force</h2>
${inForce}</section>`;
  const tone = problem === undefined ? 'good' : 'bad';
  return documentOf({ title: 'Configuration', tone, current: 'config', main }, context);
}
