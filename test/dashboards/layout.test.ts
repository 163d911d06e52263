import { describe, expect, it } from 'vitest';
import { readDashboards } from './dashboard-files.ts';
import { controlWidth, isTitleWhole, panelWidth, visibleRows } from './grafana-screen.ts';

const dashboards = readDashboards();
const panels = dashboards.flatMap(({ name, panels: all }) =>
  all
    .filter(({ type }) => type !== 'row')
    .map(({ title, gridPos }) => ({ where: `${name}: ${title}`, title, columns: gridPos.w })),
);

describe('on a screen of 1280 x 720', () => {
  it.each(panels)('the title of $where is whole', ({ title, columns }) => {
    expect(isTitleWhole(title, columns, 1280)).toBe(true);
  });

  it.each(dashboards)('$name shows its first eight tiles', ({ panels: all, ...one }) => {
    const tiles = all.filter(({ type }) => type === 'stat').slice(0, 8);
    const rows = visibleRows(
      [
        ...one.templating.list
          .filter(({ hide }) => hide === 0)
          .map(({ label }) => controlWidth.variable(label)),
        ...one.annotations.list.map(({ name }) => controlWidth.annotation(name)),
        ...one.links.map((link) => controlWidth.link(link.title)),
      ],
      720,
    );

    expect(tiles).toHaveLength(8);
    expect(Math.max(...tiles.map(({ gridPos }) => gridPos.y + gridPos.h))).toBeLessThanOrEqual(
      rows,
    );
  });
});

describe('the sizes', () => {
  /** Tiles of three columns, and what was to be seen of their titles in a real Grafana. */
  const titles = [
    'Throughput',
    'Applications',
    'Hosts',
    'Oldest values',
    'Not reporting',
    'Unhealthy',
    'Polls failing',
    'Entries without application',
  ];

  it.each([
    { screen: 1280, cut: 8 },
    { screen: 1600, cut: 5 },
    { screen: 1920, cut: 1 },
  ])('agree with a real Grafana: $cut of eight titles are cut at $screen', ({ screen, cut }) => {
    expect(titles.filter((title) => !isTitleWhole(title, 3, screen))).toHaveLength(cut);
  });

  it('agree with a picture of a real Grafana', () => {
    const labels = [
      'Data source',
      'Job',
      'Instance',
      'Account',
      'Application',
      'Transaction type',
      'Top',
    ];
    const widths = [
      ...labels.map((label) => controlWidth.variable(label)),
      controlWidth.annotation('Exporter restarts'),
      controlWidth.link('New Relic exporter'),
    ];

    expect(panelWidth(3, 1280)).toBe(111);
    expect(panelWidth(12, 1280)).toBe(470);
    // The row of tiles ended at 365 of 638 pixels below the top bar, the grid began at 182.
    expect(visibleRows(widths, 720)).toBeCloseTo((638 - 182 + 8) / 38);
  });
});
