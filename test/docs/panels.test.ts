import { describe, expect, it } from 'vitest';
import { readDashboards } from '../dashboards/dashboard-files.ts';
import { readProductDocuments } from './documents.ts';

/** Panels by the title of their dashboard, without what all of these begin with. */
const panels = new Map(
  readDashboards().map(({ title, panels: all }) => [
    title.replace(/^.* \/ /, ''),
    new Set(all.filter(({ type }) => type !== 'row').map((panel) => panel.title)),
  ]),
);

/** As documents name a panel: `_Exporter_, panel _Accounts_`, also over the end of a line. */
const named = /_(\w+)_,\s+(?:panel|tile|table)\s+_([^_]+)_/g;

function panelsIn(text: string): readonly { dashboard: string; panel: string }[] {
  return [...text.matchAll(named)].map(([, dashboard = '', panel = '']) => ({
    dashboard,
    panel: panel.replaceAll(/\s+/g, ' '),
  }));
}

const mentions = readProductDocuments().flatMap(({ path, text }) =>
  panelsIn(text).map((mention) => ({ path, ...mention })),
);

describe('a panel that a document names', () => {
  it.each(mentions)('$path: $panel of $dashboard exists', ({ dashboard, panel }) => {
    expect(panels.get(dashboard)).toContain(panel);
  });

  it('is found, also where a line ends', () => {
    expect(mentions.length).toBeGreaterThan(20);
    expect(panelsIn('See _Exporter_,\npanel _Calls by\nresult_.')).toEqual([
      { dashboard: 'Exporter', panel: 'Calls by result' },
    ]);
  });
});
