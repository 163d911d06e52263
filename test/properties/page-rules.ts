import { isDeepStrictEqual } from 'node:util';
import type { Daemon } from '../../src/daemon/accounts.ts';
import { toOpenMetrics } from '../../src/publish/page.ts';
import {
  type ParsedSample,
  parseExposition,
  parseOpenMetrics,
} from '../support/exposition-parser.ts';
import { keyValues } from './account-setup.ts';
import type { Report } from './world.ts';

/** A page that was read. */
export interface ReadPage {
  /** The samples of a metric, as the value by account and application. */
  values(name: string): ReadonlyMap<string, number>;
}

/** Pages and status: well-formed, without a key, and with counters that never go down. */
export class PageRules {
  readonly #report: Report;
  #counters: ReadonlyMap<string, number> = new Map();

  constructor(report: Report) {
    this.#report = report;
  }

  /** Every text that leaves the process. */
  text(text: string, where: string): void {
    const leaked = keyValues.find((key) => text.includes(key));
    if (leaked !== undefined) this.#report('key', `${leaked} stands in ${where}`);
  }

  async check(daemon: Daemon): Promise<ReadPage> {
    const page = Buffer.concat((await daemon.store.page()).identity).toString();
    const metrics = await daemon.metrics.text();
    this.text(page, 'the page');
    this.text(metrics, 'the self-metrics');
    this.text(JSON.stringify(daemon.status()), 'the status');
    const samples = this.#parsed(page + metrics);
    const seen = new Set<string>();
    for (const { name, labels, value } of samples) {
      if (Number.isNaN(value)) this.#report('page', `${name} is not a number`);
      const series = `${name} ${JSON.stringify(labels)}`;
      if (seen.size === seen.add(series).size) this.#report('page', `${series} stands twice`);
    }
    this.#checkCounters(samples);
    this.#checkFailures(samples);
    this.#checkOpenMetrics(page, metrics, samples);
    return {
      values: (name) =>
        new Map(
          samples
            .filter((sample) => sample.name === name)
            .map((sample) => [nameOf(sample), sample.value]),
        ),
    };
  }

  #parsed(text: string): readonly ParsedSample[] {
    try {
      return parseExposition(Buffer.from(text)).flatMap(({ samples }) => samples);
    } catch (error) {
      this.#report('page', String(error));
      return [];
    }
  }

  #checkCounters(samples: readonly ParsedSample[]): void {
    const counters = new Map(
      samples
        .filter(({ name }) => name.startsWith('newrelic_exporter_') && name.endsWith('_total'))
        .map(({ name, labels, value }) => [`${name} ${JSON.stringify(labels)}`, value]),
    );
    for (const [name, value] of counters) {
      const before = this.#counters.get(name) ?? 0;
      if (value < before) this.#report('counter', `${name} fell from ${before} to ${value}`);
    }
    this.#counters = counters;
  }

  /** Every application whose last poll failed says why, once, and no other. */
  #checkFailures(samples: readonly ParsedSample[]): void {
    const applications = (metric: string, value: number): readonly string[] =>
      samples
        .filter((sample) => sample.name === `newrelic_application_${metric}`)
        .filter((sample) => sample.value === value)
        .map(nameOf)
        .toSorted();
    const failing = applications('poll_success', 0).join();
    const explained = applications('poll_failure_info', 1).join();
    if (failing !== explained) this.#report('page', `${failing} fail, ${explained} say why`);
  }

  /** Both formats hold the same. */
  #checkOpenMetrics(page: string, metrics: string, samples: readonly ParsedSample[]): void {
    const text = page + toOpenMetrics(metrics);
    try {
      const open = parseOpenMetrics(Buffer.from(text)).flatMap((family) => family.samples);
      if (!isDeepStrictEqual(open, samples)) this.#report('page', 'OpenMetrics says otherwise');
    } catch (error) {
      this.#report('page', String(error));
    }
  }

  /** The account is another one from now on, if it comes back. */
  accountRemoved(account: string): void {
    this.#counters = new Map(
      [...this.#counters].filter(([name]) => !name.includes(`["account","${account}"]`)),
    );
  }
}

function nameOf({ labels }: ParsedSample): string {
  const own = new Map(labels);
  return [own.get('account'), own.get('app_id')].filter((part) => part !== undefined).join(' ');
}
