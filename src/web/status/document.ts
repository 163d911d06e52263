import { repositoryUrl } from '../../model/shown-text.ts';
import { type Child, type Html, html } from './html.ts';
import { refreshSeconds, scriptPath } from './refresh-script.ts';
import type { Tone } from './state.ts';
import { styleElement } from './style.ts';

/** What a page needs to know of the server that shows it. */
export interface PageContext {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
}

export interface DocumentParts {
  /** What the tab of the browser shows first. */
  readonly title: string;
  /** The colour of the icon in the tab. */
  readonly tone: Tone;
  /** The page that is current in the navigation, if it is one of them. */
  readonly current?: './' | './config';
  readonly main: Child;
}

/** As in the light theme; the icon does not follow the theme. */
const iconColours: Readonly<Record<Tone, string>> = {
  good: '#2a8f53',
  bad: '#d93025',
  wait: '#c58a14',
  none: '#7b8794',
};

function navigation(
  current: DocumentParts['current'],
  { telemetryPath }: PageContext,
): readonly Html[] {
  // Relative to the pages, so that they work behind a proxy that adds a prefix.
  const links = [
    ['./', 'Status'],
    ['./config', 'Configuration'],
    [`.${telemetryPath}`, 'Metrics'],
    ['./api/v1/targets', 'Targets (JSON)'],
    ['./-/healthy', 'Health'],
    ['./-/ready', 'Readiness'],
    [`${repositoryUrl}/tree/main/docs`, 'Documentation'],
  ] as const;
  return links.map(([href, text]) => {
    const isCurrent = href === current && html` aria-current="page"`;
    return html`<li><a href="${href}"${isCurrent}>${text}</a></li>`;
  });
}

/** A fact and its name, for a list of them. */
export function fact(name: string, value: Child): Html {
  return html`<div><dt>${name}</dt><dd>${value}</dd></div>`;
}

/** A table that can be scrolled where it is too wide. */
export function tableOf(label: string, className: string, content: Child): Html {
  return html`<div class="table" role="region" aria-label="${label}" tabindex="0"><table class="list ${className}">
${content}</table></div>`;
}

/** A whole page. It loads nothing but its own small script, and works without it. */
export function documentOf(
  { title, tone, current, main }: DocumentParts,
  context: PageContext,
): string {
  const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="7" fill="${iconColours[tone]}"/></svg>`;
  const page = html`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} \u00b7 New Relic exporter</title>
<link rel="icon" href="${`data:image/svg+xml,${encodeURIComponent(icon)}`}">
${styleElement}
<script src=".${scriptPath}" data-seconds="${refreshSeconds}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><div class="bar-top"><a class="brand" href="./">New Relic exporter</a>
<nav aria-label="Pages"><ul>${navigation(current, context)}</ul></nav>
<p id="refresh"><span role="status"></span> <a href="">Refresh</a></p></div></header>
<main id="main" tabindex="-1">
${main}
</main>
</body>
</html>
`;
  return page.toString();
}
