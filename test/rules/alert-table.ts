import { type Cause, lastsMinutes } from './alert-causes.ts';
import type { Change, Timeline } from './alert-timeline.ts';

/** What is sent of one cause in each scene, by the name of the scene. */
export type Sent = ReadonlyMap<string, Timeline>;

const heading =
  '| What is wrong | the one alert, after minutes | which ends, minutes after the cause |';

function alertText({ alert, minute, count }: Change): string {
  const name = alert.replace('NewRelicExporter', '');
  const times = count === 1 ? '' : `${count} times `;
  return `${times}[${name}](#${alert.toLowerCase()}), ${minute}`;
}

/** What is sent while the cause lasts. */
export function sentText(cause: Cause, { begun }: Timeline): string {
  const sent = begun.filter(({ minute }) => minute <= lastsMinutes(cause));
  return sent.length === 0 ? 'nothing' : sent.map(alertText).join(', ');
}

/** What is sent after it, and when the alert ends. */
export function endText(cause: Cause, { begun, ended }: Timeline): string {
  const lasts = lastsMinutes(cause);
  const late = begun.filter(({ minute }) => minute > lasts).map(alertText);
  const lastMinute = Math.max(0, ...ended.map(({ minute }) => minute));
  const ends = ended.length === 0 ? [] : String(lastMinute - lasts);
  return [...late, ends].flat().join('; ');
}

/** One text if all scenes have the same, else each with its scenes. */
function together(texts: ReadonlyMap<string, string>): string {
  const [first, ...others] = new Set(texts.values());
  if (others.length === 0) return first ?? '';
  return [first, ...others]
    .map((text) => {
      const scenes = [...texts].filter((one) => one[1] === text).map(([scene]) => scene);
      return `${scenes.join(', ')}: ${text}`;
    })
    .join('; ');
}

export function rowOf(cause: Cause, sent: Sent): string {
  const textsOf = (textOf: typeof sentText): ReadonlyMap<string, string> =>
    new Map([...sent].map(([scene, timeline]) => [scene, textOf(cause, timeline)]));
  return `| ${cause.name} | ${together(textsOf(sentText))} | ${together(textsOf(endText))} |`;
}

/** The document with these rows in its table. */
export function withRows(document: string, rows: readonly string[]): string {
  const start = document.indexOf(heading);
  const end = document.indexOf('\n\n', start);
  if (start === -1) throw new Error('The document has no such table');
  const table = [heading, '| --- | --- | --- |', ...rows].join('\n');
  return document.slice(0, start) + table + document.slice(end);
}

/** What is more than one alert for one cause. */
export function tooMuchIn(cause: Cause, { begun }: Timeline): readonly Change[] {
  const [first] = begun;
  const isFirst = (change: Change): boolean =>
    change === first && change.count === 1 && change.minute <= lastsMinutes(cause);
  return begun.filter((change) => !isFirst(change));
}
