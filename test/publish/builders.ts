import { setImmediate } from 'node:timers/promises';
import { type Application, bareApplication } from '../../src/model/application.ts';
import type { AppReading, AppSnapshot } from '../../src/model/snapshot.ts';
import { familiesOf } from '../../src/publish/families.ts';
import { type RenderedSubject, renderApplication } from '../../src/publish/render.ts';
import { SeriesStore } from '../../src/publish/series-store.ts';
import { throughputSeries } from '../support/builders.ts';

/** An application with nothing but an id and a name. */
export function anApplication(overrides: Partial<Application> = {}): Application {
  return { ...bareApplication({ id: '101', name: 'Checkout' }), ...overrides };
}

export function aReading(overrides: Partial<AppReading> = {}): AppReading {
  return {
    windowEndMs: Date.UTC(2026, 8, 1, 10),
    series: throughputSeries,
    application: [],
    hosts: new Map(),
    ...overrides,
  };
}

/** A snapshot before the first poll of an application without facts. */
export function aSnapshot(overrides: Partial<AppSnapshot> = {}): AppSnapshot {
  return {
    account: 'production',
    application: anApplication(),
    hostsOnly: false,
    labels: {},
    hostNames: new Map(),
    reading: undefined,
    pollSucceeded: undefined,
    failureReason: undefined,
    lastSuccessMs: undefined,
    ...overrides,
  };
}

export function renderedOf(snapshot: AppSnapshot): RenderedSubject {
  return renderApplication(snapshot, familiesOf(snapshot.reading?.series ?? []));
}

/** All its lines. */
export function textOf({ bytes }: RenderedSubject): string {
  return bytes.toString();
}

export function aStore(): SeriesStore {
  return new SeriesStore(async () => setImmediate());
}

export async function pageText(store: SeriesStore): Promise<string> {
  return Buffer.concat((await store.page()).identity).toString();
}

/** The lines of one family, in the order of the page, without name and header. */
export async function linesOf(store: SeriesStore, family: string): Promise<readonly string[]> {
  const lines = (await pageText(store)).split('\n');
  return lines
    .filter((line) => line.startsWith(`${family}{`))
    .map((line) => line.slice(family.length));
}
