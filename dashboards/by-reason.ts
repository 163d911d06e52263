import { graph } from './graph.ts';
import { reasonColors } from './overrides.ts';
import type { Panel } from './panel.ts';
import { onlySome } from './series.ts';

interface ByReasonOptions {
  readonly id?: number;
  readonly title: string;
  readonly description: string;
  readonly unit: string;
  /** An expression with the label `reason`. */
  readonly counts: string;
  /** What the counts are of, if they end at 0. */
  readonly all?: string;
}

/** A graph of failures, stacked by reason; the line "none" says that there are none. */
export function byReason({ counts, all, ...options }: ByReasonOptions): Panel {
  return graph({
    ...options,
    width: 8,
    isStacked: true,
    softMax: 1,
    overrides: reasonColors,
    queries: [{ expr: onlySome('reason', counts, all), legend: '{{reason}}' }],
  });
}
