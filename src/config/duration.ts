import { dayMs, hourMs, minuteMs } from '../model/time.ts';
import type { Refuse } from './url.ts';

/** A range of durations, both ends included. */
export interface DurationBounds {
  readonly minMs: number;
  readonly maxMs: number;
  /** Follows the longest in the message about a longer one. */
  readonly instead?: string;
}

const durationUnits = [
  { name: 'w', ms: 7 * dayMs },
  { name: 'd', ms: dayMs },
  { name: 'h', ms: hourMs },
  { name: 'm', ms: minuteMs },
  { name: 's', ms: 1000 },
  { name: 'ms', ms: 1 },
] as const;

/** A duration in the configuration file, for JSON Schema: `30s`, `5m`, `1h30m`, `31d`, `500ms`. */
export const durationPattern: string = `^(?=[0-9])${durationUnits.map(({ name }) => `([0-9]+${name})?`).join('')}$`;

const durationRegExp = new RegExp(durationPattern, 'u');

/** Writes a duration as Prometheus does, such as `1h30m`: weeks only if they are whole, as 31d are not. */
export function formatDuration(durationMs: number): string {
  let restMs = durationMs;
  let text = '';
  for (const unit of durationUnits) {
    const count = unit.name === 'w' && restMs % unit.ms > 0 ? 0 : Math.floor(restMs / unit.ms);
    restMs -= count * unit.ms;
    if (count > 0) text += `${count}${unit.name}`;
  }
  return text === '' ? '0s' : text;
}

/**
 * Parses a duration such as `30s`, `5m`, `1h30m` or `500ms` into milliseconds. A unit is required,
 * except for a bare `0` if the bounds include zero.
 */
export function parseDuration(
  value: unknown,
  { minMs, maxMs, instead = '' }: DurationBounds,
  refuse: Refuse = () => undefined,
): number | undefined {
  if (minMs === 0 && (value === 0 || value === '0')) return 0;
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'bigint') {
    return refuse('must be a duration with a unit, such as 30s');
  }
  const match = durationRegExp.exec(String(value));
  if (match === null) return refuse(malformed(String(value)), spelt(String(value), minMs, maxMs));
  const ms = durationUnits.reduce(
    (sum, unit, index) => sum + Number.parseInt(match[index + 1] ?? '0', 10) * unit.ms,
    0,
  );
  if (ms < minMs) return refuse(`must be at least ${formatDuration(minMs)}`);
  return ms > maxMs ? refuse(`must be at most ${formatDuration(maxMs)}${instead}`) : ms;
}

/** What a duration is meant to be: `5min`, `last 5 minutes`, `1.5h`, `PT5M`, `00:05:00`. Months are no minutes. */
function spelt(written: string, minMs: number, maxMs: number): string | undefined {
  const text = written
    .replace(/^(?:last|every|each|[-+])\s*/iu, '')
    .replace(
      /^(\d+):(\d\d)(?::(\d\d))?$/u,
      (_, hours, minutes, seconds = '0') => `${hours}h${minutes}m${seconds}s`,
    );
  if (!/^(?:pt?)?(?:[\d.]+ *(?!mo)[a-z]+[ ,]*)+$/iu.test(text)) return undefined;
  let ms = 0;
  for (const [, count, word = ''] of text.toLowerCase().matchAll(/([\d.]+) *([a-z]+)/gu)) {
    const name = /^(?:ms|milli)/u.test(word) ? 'ms' : word.charAt(0);
    ms += Math.round(
      Number(count) * (durationUnits.find((unit) => unit.name === name)?.ms ?? Number.NaN),
    );
  }
  return ms >= minMs && ms <= maxMs ? `did you mean "${formatDuration(ms)}"?` : undefined;
}

function malformed(text: string): string {
  return /^[0-9]+$/u.test(text)
    ? `needs a unit: ms, s, m, h, d or w, such as ${Number(text) === 0 ? 30 : text}s`
    : 'must be a duration of whole numbers with the units w, d, h, m, s and ms, such as 1h30m';
}
