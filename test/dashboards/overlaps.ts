interface Placed {
  readonly title: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
}

const columns = 24;

function overlap({ gridPos: one }: Placed, { gridPos: other }: Placed): boolean {
  return (
    one.x < other.x + other.w &&
    other.x < one.x + one.w &&
    one.y < other.y + other.h &&
    other.y < one.y + one.h
  );
}

/** Panels that share a cell of the grid, or reach over its edge. */
export function overlapsIn(panels: readonly Placed[]): readonly string[] {
  return panels.flatMap((panel, index) => [
    ...panels
      .slice(index + 1)
      .filter((other) => overlap(panel, other))
      .map((other) => `${panel.title} and ${other.title}`),
    ...(panel.gridPos.x + panel.gridPos.w > columns ? [`${panel.title} and the edge`] : []),
  ]);
}
