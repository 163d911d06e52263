import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createArchive, type Programs } from './archive.ts';
import { type PastPrometheus, pastOf } from './past-prometheus.ts';
import { recordedBy } from './situation-rules.ts';
import { createNeeded, type Sample, samplesOf } from './situation-samples.ts';
import { playScene } from './situation-scene.ts';
import type { Situation } from './situations.ts';

const minuteMs = 60_000;
const scrapeIntervalMs = 30_000;
const nowMs = Date.UTC(2026, 2, 4, 12, 0, 0);

export interface ManyApplications extends PastPrometheus {
  readonly nowMs: number;
  readonly scrapeIntervalMs: number;
  stop(): Promise<void>;
}

/** The series of another application of the same kind, with hosts of its own. */
function copyOf({ series, value }: Sample, copy: number): string {
  const copied = series
    .replace(
      /app_id="(?<id>\d+)",app_name="(?<name>[^"]*)"/u,
      `app_id="$<id>${copy}",app_name="$<name>-${copy}"`,
    )
    .replace(
      /host_id="(?<id>\d+)",host_name="(?<name>[^"]*)"/u,
      `host_id="$<id>${copy}",host_name="$<name>-${copy}"`,
    );
  return `${copied} ${value} ${nowMs / 1000}\n`;
}

/** One scrape of exporters that have so many applications instead of each one. */
async function* copiesOf(situation: Situation, count: number): AsyncGenerator<readonly string[]> {
  const times = { startMs: nowMs - 5 * minuteMs, endMs: nowMs, scrapeIntervalMs };
  const scrapes = await playScene({ ...situation, troubleMinutes: 0 }, times);
  const isNeeded = createNeeded();
  const samples = scrapes
    .filter(({ atMs }) => atMs === nowMs)
    .flatMap((scrape) => samplesOf(scrape, situation.cluster, isNeeded));
  for (const sample of samples) {
    const isOfApplication = sample.series.includes('app_id="');
    yield Array.from({ length: isOfApplication ? count : 1 }, (_, index) => copyOf(sample, index));
  }
}

/** A Prometheus that has scraped so many copies of each application of a situation, once. */
export async function startManyApplications(
  situation: Situation,
  count: number,
  programs: Programs,
): Promise<ManyApplications> {
  const folder = await mkdtemp(join(tmpdir(), 'newrelic-exporter-applications-'));
  try {
    const archive = await createArchive(folder, programs);
    await archive.add(copiesOf(situation, count));
    const once = { startMs: nowMs, endMs: nowMs, stepMs: scrapeIntervalMs };
    const recorded = await archive.read(async (prometheus) =>
      recordedBy(pastOf(prometheus, nowMs), [once]),
    );
    await archive.add([recorded]);
    const prometheus = await archive.start();
    return {
      ...pastOf(prometheus, nowMs),
      nowMs,
      scrapeIntervalMs,
      stop: async () => {
        await prometheus.stop();
        await rm(folder, { recursive: true });
      },
    };
  } catch (error) {
    await rm(folder, { recursive: true });
    throw error;
  }
}
