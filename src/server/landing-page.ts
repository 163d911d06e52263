import type { BuildInfo } from '../model/status.ts';
import type { AccountStatus } from '../model/telemetry.ts';

export interface LandingPageContent {
  readonly build: BuildInfo;
  readonly telemetryPath: string;
  readonly accounts: readonly AccountStatus[];
  /** What is wrong with the current configuration file; `undefined` if nothing is. */
  readonly configProblem: string | undefined;
}

/** Inline, because the page loads nothing. */
const style = `
:root { color-scheme: light dark; --line: #d5dae1; --soft: #5b6673; --good: #17713a; --bad: #b3261e;
  --waiting: #85590a; --link: #1259b5; --head: #f3f5f8; --text: #1c2430; --page: #ffffff; }
@media (prefers-color-scheme: dark) {
  :root { --line: #38414d; --soft: #a2adba; --good: #6fd394; --bad: #ff9b93; --waiting: #f0c36a;
    --link: #8ab8ff; --head: #222933; --text: #e6eaf0; --page: #171c23; }
}
body { margin: 0; background: var(--page); color: var(--text);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 2rem 1.5rem; }
h1 { margin: 0 0 .5rem; font-size: 1.75rem; }
h2 { margin: 2rem 0 .75rem; font-size: 1.2rem; }
a { color: var(--link); }
nav a { margin-right: 1.25rem; }
.wide { overflow-x: auto; border: 1px solid var(--line); border-radius: 8px; }
.wide pre { margin: 0; padding: .8rem 1rem; font: .9rem/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
table { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .55rem .8rem; text-align: right; vertical-align: top; }
th:first-child, td:first-child, th:nth-child(2), td:nth-child(2) { text-align: left; }
thead th { background: var(--head); color: var(--soft); font-size: .85rem; font-weight: 600;
  vertical-align: bottom; }
tbody { border-top: 1px solid var(--line); }
tbody th { font-weight: 600; overflow-wrap: break-word; max-width: 20rem; }
.state { white-space: nowrap; font-weight: 600; }
.good { color: var(--good); }
.bad { color: var(--bad); }
.waiting { color: var(--waiting); }
.notes td { padding-top: 0; color: var(--soft); font-size: .9rem; overflow-wrap: anywhere; }
.notes p { margin: 0 0 .25rem; }
code { font: .95em ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
footer { margin-top: 2rem; color: var(--soft); font-size: .9rem; }
`;

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Makes HTML text, or a quoted attribute value, of a plain text. */
function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}

interface State {
  readonly word: string;
  readonly className: 'good' | 'bad' | 'waiting';
}

function stateOf({ up, firstCycleEnded }: AccountStatus): State {
  if (up === undefined) return { word: 'starting', className: 'waiting' };
  if (!up) return { word: 'down', className: 'bad' };
  return firstCycleEnded
    ? { word: 'up', className: 'good' }
    : { word: 'first polls', className: 'waiting' };
}

function rounded(value: number | undefined): string {
  if (value === undefined) return '–';
  return String(Math.round(value * 10) / 10);
}

function noteLines(account: AccountStatus): readonly string[] {
  const lines: string[] = [];
  if (account.error !== undefined) {
    lines.push(`<p class="bad">${escapeHtml(account.error)}</p>`);
  }
  if (account.backoffUntilMs !== undefined) {
    const until = new Date(account.backoffUntilMs).toISOString();
    lines.push(`<p>After a 429, no calls are sent until ${escapeHtml(until)}.</p>`);
  }
  if (account.clockSkewSeconds !== undefined) {
    const seconds = Math.round(Math.abs(account.clockSkewSeconds));
    const side = account.clockSkewSeconds > 0 ? 'ahead of' : 'behind';
    lines.push(
      `<p>New Relic's clock is ${seconds} s ${side} this machine's: windows follow New Relic's.</p>`,
    );
  }
  if ((account.demandRequestsPerMinute ?? 0) > account.budgetRequestsPerMinute) {
    lines.push('<p>The demand exceeds the budget: the interval is stretched.</p>');
  }
  if (account.missingSelectors.length > 0) {
    const selectors = account.missingSelectors.map((text) => `<code>${escapeHtml(text)}</code>`);
    lines.push(`<p class="bad">Entries that match nothing: ${selectors.join(', ')}</p>`);
  }
  return lines;
}

function rowOf(account: AccountStatus): string {
  const { word, className } = stateOf(account);
  const notes = noteLines(account);
  return `<tbody>
<tr>
<th scope="row">${escapeHtml(account.name)}</th>
<td><span class="state ${className}">${word}</span></td>
<td>${account.polledApplications} of ${account.applications}</td>
<td>${account.hosts}</td>
<td>${rounded(account.budgetRequestsPerMinute)}</td>
<td>${rounded(account.demandRequestsPerMinute)}</td>
<td>${account.requestsInFlight}</td>
<td>${rounded(account.pollIntervalSeconds)} s</td>
</tr>
${notes.length === 0 ? '' : `<tr class="notes"><td colspan="8">${notes.join('\n')}</td></tr>\n`}</tbody>`;
}

function tableOf(accounts: readonly AccountStatus[]): string {
  if (accounts.length === 0) return '<p>This process polls no account.</p>';
  return `<div class="wide"><table>
<thead><tr>
<th scope="col">Account</th><th scope="col">State</th><th scope="col">Applications polled</th>
<th scope="col">Hosts</th><th scope="col">Budget (calls/min)</th>
<th scope="col">Demand (calls/min)</th><th scope="col">In flight</th>
<th scope="col">Poll interval</th>
</tr></thead>
${accounts.map(rowOf).join('\n')}
</table></div>`;
}

function configSection(problem: string | undefined, isPolling: boolean): string {
  if (problem === undefined) return '';
  const effect = isPolling
    ? 'It was refused: the previous one stays in force.'
    : 'Nothing is polled until it is usable. It is tried again every few seconds.';
  return `<h2>Configuration</h2>
<p class="bad">${effect}</p>
<div class="wide"><pre>${escapeHtml(problem)}</pre></div>
`;
}

/** The page for people who open the exporter in a browser. It loads nothing else. */
export function landingPage({
  build,
  telemetryPath,
  accounts,
  configProblem,
}: LandingPageContent): string {
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>New Relic exporter</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>New Relic exporter</h1>
<p>Throughput of New Relic APM applications and their hosts, for Prometheus.
Polling runs in the background: neither this page nor a scrape causes calls to New Relic.</p>
<nav>
<a href="${escapeHtml(telemetryPath)}">Metrics</a>
<a href="/-/healthy">Health</a>
<a href="/-/ready">Readiness</a>
</nav>
${configSection(configProblem, accounts.length > 0)}<h2>Accounts</h2>
${tableOf(accounts)}
<footer>Version ${escapeHtml(build.version)}, revision ${escapeHtml(build.revision)},
Node ${escapeHtml(build.nodeVersion)}</footer>
</main>
</body>
</html>
`;
}
