/** Inline, because the page loads nothing. */
export const landingPageStyle = `
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
