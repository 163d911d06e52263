import { ofApp, perApp, type Selector } from './selectors.ts';

const worstFirst = [
  ['status="red"', 4],
  ['status="orange"', 3],
  ['status="green"', 2],
  ['status!~"green|orange|red"', 1],
] as const;

function numbered(
  statuses: readonly (readonly [matcher: string, number: number])[],
  select: Selector,
): string {
  const parts = statuses.map(([matcher, number]) => {
    const selected = select('newrelic_application_health_status', matcher);
    return `${number} * (${perApp(selected)} == 1)`;
  });
  return `(${parts.join(' or ')})`;
}

/** 1 gray, which New Relic knows nothing of, 2 green, 3 orange, 4 red: the worst is the greatest, and wins. */
export function healthOf(select: Selector): string {
  return numbered(worstFirst, select);
}

/** Only 3 orange and 4 red, which costs half as much. */
export const unhealthy: string = numbered(worstFirst.slice(0, 2), ofApp);
