import { createHash } from 'node:crypto';
import { Html } from './html.ts';

const colours = `
:root { color-scheme: light dark;
  --page: #f5f6f8; --card: #ffffff; --line: #dfe3e8; --text: #1a222d; --soft: #56616f; --link: #0b57b0;
  --good: #14693a; --bad: #b3261e; --wait: #775100; --none: #56616f;
  --good-back: #e8f4ec; --bad-back: #fcebea; --wait-back: #fbf2dd; --none-back: #eceff3; --focus: #0b57b0; }
@media (prefers-color-scheme: dark) { :root {
  --page: #0f1318; --card: #171c22; --line: #2a323c; --text: #e3e7ed; --soft: #9ea9b7; --link: #8ab9ff;
  --good: #71d096; --bad: #ff9d94; --wait: #efc266; --none: #9ea9b7;
  --good-back: #15291d; --bad-back: #37191a; --wait-back: #30270f; --none-back: #222a33; --focus: #8ab9ff; } }
`;

const basics = `
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: break-word;
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
a { color: var(--link); text-underline-offset: .15em; }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible,
  [tabindex]:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
main:focus { outline: none; }
main, .bar-top { max-width: 90rem; margin: 0 auto; padding: 0 1.25rem; }
main { padding-block: 1.25rem 3rem; }
h1 { margin: 0; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 0; font-size: 1.05rem; overflow-wrap: anywhere; }
p { margin: 0; }
section { margin-top: 1.75rem; }
code, pre { font: .92em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
pre { margin: .5rem 0 0; padding: .75rem 1rem; overflow-x: auto; background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; }
summary { cursor: pointer; color: var(--link); width: fit-content; }
.skip { position: absolute; left: -999rem; }
.skip:focus { left: 1rem; top: .5rem; padding: .4rem .8rem; background: var(--card); z-index: 1; }
.soft { color: var(--soft); font-weight: 400; }
.none { --tone: var(--none); --back: var(--none-back); }
.good { --tone: var(--good); --back: var(--good-back); }
.bad { --tone: var(--bad); --back: var(--bad-back); }
.wait { --tone: var(--wait); --back: var(--wait-back); }
.none, .good, .bad, .wait { color: var(--tone); }
`;

const top = `
header { background: var(--card); border-bottom: 1px solid var(--line); }
.bar-top { display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding-block: .6rem; }
.brand { color: var(--text); font-weight: 650; text-decoration: none; }
header ul { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; margin: 0; padding: 0; list-style: none; }
header li a { display: inline-block; padding: .15rem 0; text-decoration: none; }
header a:hover { text-decoration: underline; }
header [aria-current] { color: var(--text); font-weight: 600; }
#refresh { margin-left: auto; color: var(--soft); }
#refresh button { margin-left: .5rem; padding: .1rem .6rem; }
#refresh .bad { font-weight: 600; }
.banner { display: flex; flex-wrap: wrap; align-items: baseline; gap: .15rem 1rem;
  padding: .8rem 1rem; color: var(--text); background: var(--back); border-radius: 8px; border-left: 5px solid var(--tone); }
.banner h1 { overflow-wrap: anywhere; }
.banner p { font-size: 1.05rem; }
.banner h1 + p { flex: 1 1 24rem; }
.banner .as-of { margin-left: auto; font-size: .9rem; }
.back { margin-bottom: .6rem; }
.facts { display: flex; flex-wrap: wrap; gap: .6rem 2rem; margin: 1rem 0 0; }
.facts dt { color: var(--soft); font-size: .85rem; }
.facts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
.problem pre { border-color: var(--bad); }
.facts.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(12.5rem, 1fr)); }
`;

/** Before the word of a state stands a shape, so that nobody needs to see the colour. */
const states = `
.state { white-space: nowrap; font-weight: 600; }
.state::before { content: ""; display: inline-block; width: .6em; height: .6em; margin-right: .45em;
  background: currentColor; }
.state.good::before { border-radius: 50%; }
.state.bad::before { width: .75em; height: .75em; margin-right: .3em; vertical-align: -.05em;
  clip-path: polygon(20% 0, 50% 30%, 80% 0, 100% 20%, 70% 50%, 100% 80%, 80% 100%, 50% 70%, 20% 100%, 0 80%, 30% 50%, 0 20%); }
.state.wait::before { border-radius: 50%; background: none; border: 2px solid; }
.state.none::before { height: .15em; vertical-align: .25em; }
@media (forced-colors: active) { .state::before { forced-color-adjust: none; background: CanvasText; } }
`;

const listStyle = `
.head { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem 1.25rem; }
.choices { display: flex; flex-wrap: wrap; gap: .35rem; margin: 0; padding: 0; list-style: none; }
.choices a { display: inline-block; padding: .1rem .65rem; border: 1px solid var(--line); border-radius: 1rem;
  background: var(--card); text-decoration: none; font-variant-numeric: tabular-nums; }
.choices a.any { color: var(--text); }
.choices a:hover { border-color: currentColor; }
.choices a[aria-current] { border-color: currentColor; box-shadow: inset 0 0 0 1px currentColor; }
form { display: flex; flex-wrap: wrap; align-items: center; gap: .5rem .9rem; margin-top: .7rem; }
label { color: var(--soft); max-width: 100%; }
input, select, button { font: inherit; color: var(--text); background: var(--card);
  border: 1px solid var(--line); border-radius: 6px; padding: .25rem .55rem; }
input, select { border-color: var(--soft); margin-left: .35rem; max-width: min(100%, 20rem); }
input { width: 17rem; }
input::placeholder { color: var(--soft); opacity: 1; }
button { cursor: pointer; border-color: var(--soft); }
button:hover { border-color: var(--link); }
.table { position: relative; margin-top: .7rem; overflow-x: auto; background: var(--card); border: 1px solid var(--line);
  border-radius: 8px; }
.list { width: 100%; border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { padding: .45rem .75rem 0; text-align: left; color: var(--soft); font-size: .85rem; }
.list th, .list td { padding: .35rem .75rem; text-align: left; vertical-align: baseline; }
.list thead th { color: var(--soft); font-size: .85rem; font-weight: 600; vertical-align: bottom;
  border-bottom: 1px solid var(--line); }
.list thead a { color: inherit; text-decoration: none; }
.list thead a:hover { text-decoration: underline; }
.list [aria-sort] a { color: var(--text); }
.list [aria-sort=ascending] a::after { content: " \\2191" / ""; }
.list [aria-sort=descending] a::after { content: " \\2193" / ""; }
.list .n { text-align: right; }
.list .n, .list .c-state, .c-values time, .list thead th { white-space: nowrap; }
.list td.n .soft { white-space: normal; text-wrap: balance; }
@media (max-width: 88rem) { .list td.c-values { white-space: normal; } }
.list .c-account { min-width: 7rem; overflow-wrap: anywhere; }
.list tbody + tbody, .values tr + tr { border-top: 1px solid var(--line); }
.list tbody th { font-weight: 500; width: 34%; min-width: 10rem; overflow-wrap: anywhere; }
.list tbody th a { text-decoration: none; }
.list tbody th a:hover { text-decoration: underline; }
.list tbody:hover { background: color-mix(in srgb, var(--link) 5%, transparent); }
.values tbody:hover { background: none; }
.values tbody th { width: 40%; }
.applications tbody th { width: 100%; }
.list .why td { padding-top: 0; padding-bottom: .5rem; overflow-wrap: anywhere; }
.why p + p { margin-top: .15rem; }
.bar { display: block; width: 7rem; height: 4px; margin: .2rem 0 0 auto; border-radius: 2px; }
.bar .all { fill: var(--line); }
.bar .used { fill: var(--link); }
.empty { margin-top: .7rem; padding: 1.5rem; text-align: center; background: var(--card);
  border: 1px dashed var(--line); border-radius: 8px; }
.pager { display: flex; flex-wrap: wrap; gap: .3rem .8rem; margin-top: .7rem; color: var(--soft); }
.pager a { line-height: 24px; }
`;

/** Where a row has no room, its cells stand below each other, each with its label. */
const phone = `
@media (max-width: 66rem) {
  main, .bar-top { padding-inline: .8rem; }
  main { display: flex; flex-direction: column; }
  main > * { min-width: 0; }
  main > .facts:not(.grid) { order: 1; }
  .facts.grid { grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); }
  #refresh, .banner .as-of { margin-left: 0; }
  .list thead { position: absolute; clip-path: inset(50%); width: 1px; height: 1px; overflow: hidden; }
  .list, .list tbody, .list caption { display: block; }
  .list tbody tr { display: flex; flex-wrap: wrap; gap: .1rem 1.1rem; padding: .5rem .75rem; align-items: baseline; }
  .list .why { padding-top: 0; }
  .list tbody th, .list tbody td { display: block; padding: 0; }
  .list .n { text-align: left; }
  .list tbody th { min-width: 0; flex: 1 0 calc(100% - 8rem); width: 0; }
  .accounts tbody th, .values tbody th, .values td.c-metric { flex: 1 1 100%; }
  .values td.c-labels:empty { display: none; }
  .list .why td { flex: 1 1 100%; min-width: 0; padding: 0; }
  .list td[data-label]:not(.c-state, .c-why)::before { content: attr(data-label); color: var(--soft); font-size: .85em;
    font-weight: 400; margin-right: .35em; }
  td br { display: none; }
  .bar { margin-left: 0; }
  label, input { flex: 1 1 100%; }
  label { display: flex; align-items: center; }
  select { flex: 1 1 auto; min-width: 0; }
}
/* What fails is to be on the first screen. */
@media (max-width: 40rem) {
  nav ul { flex-wrap: nowrap; overflow-x: auto; white-space: nowrap; }
  nav { min-width: 0; }
  .banner .as-of, .accounts .why .soft, .accounts [data-label="in flight"],
  .accounts [data-label=discovered], .accounts [data-label="next discovery"] { display: none; }
  .of-account td:not(.c-state, .c-account, .c-values) { display: none; }
  section { margin-top: 1rem; display: flex; flex-direction: column; }
  section > * { min-width: 0; }
  section > form { order: 1; }
  .problem pre { white-space: pre-wrap; }
}
`;

const style = `${colours}${basics}${top}${states}${listStyle}${phone}`;

/** In the page itself, so that one answer is the whole page, also when it is saved and sent on. */
export const styleElement: Html = new Html([`<style>${style}</style>`], []);

/** What a `Content-Security-Policy` needs to allow the style, and no other. */
export function styleSource(): string {
  return `'sha256-${createHash('sha256').update(style).digest('base64')}'`;
}
