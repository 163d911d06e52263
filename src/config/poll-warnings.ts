import type { AppEntry, PatternSource, PlainConfig } from '../model/config.ts';
import { type Problem, warningAt } from './diagnostic.ts';
import { formatDuration } from './duration.ts';
import type { At, Located } from './located.ts';
import type { FileConfig, FilePoll } from './schema.ts';

const minuteMs = 60_000;

/** The setting of an entry, or else that of `poll`; `undefined` if neither is written. */
function written(at: At, index: number, key: keyof FilePoll): Located | undefined {
  return at('apps', index, key) ?? at('poll', key);
}

/** Both `poll` and the entries, as the file has them, with the path of each. */
function everyPoll({ poll, apps }: FileConfig): readonly {
  readonly poll: Partial<FilePoll>;
  readonly path: readonly PropertyKey[];
}[] {
  return [
    { poll, path: ['poll'] },
    ...apps.map((app, index) => ({ poll: app, path: ['apps', index] })),
  ];
}

function shortIntervals(file: FileConfig, at: At): readonly Problem[] {
  const message = '"interval" is under 60s: New Relic\'s data has a resolution of one minute';
  return everyPoll(file).flatMap(({ poll: { interval }, path }) =>
    interval !== undefined && interval < minuteMs
      ? [warningAt(at(...path, 'interval')?.span, message)]
      : [],
  );
}

function brokenMinutes(file: FileConfig, at: At): readonly Problem[] {
  return everyPoll(file).flatMap(({ poll: { window }, path }) => {
    if (window?.kind !== 'range' || window.lengthMs % minuteMs === 0) return [];
    const rounded = formatDuration(Math.ceil(window.lengthMs / minuteMs) * minuteMs);
    const message = `"window" is rounded up to ${rounded}: New Relic's data has a resolution of one minute`;
    return [warningAt(at(...path, 'window')?.span, message, `write ${rounded}`)];
  });
}

/** Values that fail to be polled once would be dropped before the next poll can succeed. */
function uselessStaleAfter({ apps }: PlainConfig, at: At): readonly Problem[] {
  return apps.flatMap(({ poll: { intervalMs, staleAfterMs } }, index) => {
    if (staleAfterMs > intervalMs) return [];
    const place = at('apps', index, 'stale_after') ?? at('apps', index, 'interval');
    const message =
      `"stale_after" (${formatDuration(staleAfterMs)}) is not longer than "interval" ` +
      `(${formatDuration(intervalMs)}): after one failed poll, values are dropped before the next`;
    const span = (place ?? at('poll', 'stale_after') ?? at('poll', 'interval'))?.span;
    return [warningAt(span, message, `write at least ${formatDuration(2 * intervalMs)}`)];
  });
}

/** With REST the vendor's own range ends now, whatever the delay; NerdGraph has no range of its own. */
function uselessDelay(config: PlainConfig, at: At): readonly Problem[] {
  const rest = new Set(
    config.accounts.filter(({ source }) => source.kind === 'rest').map(({ name }) => name),
  );
  const isUseless = ({ account, poll }: AppEntry<PatternSource>): boolean =>
    poll.window.kind === 'vendor_default' && rest.has(account);
  const message = '"delay" has no effect with "window: default": New Relic\'s own range ends now';
  const help = 'leave out one of them';
  const isUsed = config.apps.some(
    (app, index) => !isUseless(app) && at('apps', index, 'delay') === undefined,
  );
  const common = at('poll', 'delay');
  return [
    ...(common === undefined || isUsed ? [] : [warningAt(common.span, message, help)]),
    ...config.apps.flatMap((app, index) => {
      const own = at('apps', index, 'delay');
      return own === undefined || !isUseless(app) ? [] : [warningAt(own.span, message, help)];
    }),
  ];
}

/** An account lists its applications once for all its entries. */
function uselessDiscoveryIntervals({ apps }: PlainConfig, at: At): readonly Problem[] {
  const shortest = new Map<string, number>();
  for (const { account, poll } of apps) {
    const known = shortest.get(account) ?? Number.POSITIVE_INFINITY;
    shortest.set(account, Math.min(known, poll.discoveryIntervalMs));
  }
  return apps.flatMap(({ account, poll: { discoveryIntervalMs } }, index) => {
    const leastMs = shortest.get(account) ?? discoveryIntervalMs;
    const own = at('apps', index, 'discovery_interval');
    if (own === undefined || discoveryIntervalMs === leastMs) return [];
    const message = `"discovery_interval" has no effect: another entry of the account has ${formatDuration(leastMs)}, and the shortest counts`;
    return [warningAt(own.span, message, 'leave it out')];
  });
}

/** `host_names` where there are no hosts, or where hosts are selected by their names anyway. */
function uselessHostNames({ apps }: PlainConfig, at: At): readonly Problem[] {
  return apps.flatMap(({ hosts, poll }, index) => {
    const own = at('apps', index, 'host_names');
    const isNeeded = typeof hosts !== 'boolean' && !poll.hostNames;
    const place = isNeeded ? written(at, index, 'host_names') : own;
    if (place === undefined) return [];
    if (hosts === false) {
      const message = '"host_names" has no effect with "hosts: false"';
      return [warningAt(place.span, message, 'leave it out')];
    }
    if (!isNeeded) return [];
    const message =
      '"host_names: false" has no effect on an entry that selects hosts by name: their names are looked up';
    return [warningAt(place.span, message, 'leave it out, or set "hosts" to true')];
  });
}

/** Intervals, windows and other settings of polls that are allowed but do not do what one expects. */
export function pollWarnings(file: FileConfig, config: PlainConfig, at: At): readonly Problem[] {
  return [
    ...shortIntervals(file, at),
    ...brokenMinutes(file, at),
    ...uselessStaleAfter(config, at),
    ...uselessDelay(config, at),
    ...uselessDiscoveryIntervals(config, at),
    ...uselessHostNames(config, at),
  ];
}
