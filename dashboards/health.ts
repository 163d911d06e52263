import { ofApp, perApp } from './selectors.ts';

const worstFirst = [
  'status="red"',
  'status="orange"',
  'status="green"',
  'status!~"green|orange|red"',
] as const;

/** 1 gray, which New Relic knows nothing of, 2 green, 3 orange, 4 red: the worst is the greatest, and wins. */
export function healthOf(): string {
  const numbered = worstFirst.map((matcher, index) => {
    const selected = ofApp('newrelic_application_health_status', matcher);
    return `${worstFirst.length - index} * (${perApp(selected)} == 1)`;
  });
  return `(${numbered.join(` or `)})`;
}
