import { Counter, type Registry } from 'prom-client';

export interface AccountCounterOptions<Label extends string> {
  readonly name: string;
  readonly help: string;
  /** The labels beside `account`. */
  readonly labelNames: readonly Label[];
}

/** A counter whose series go away together with their account. */
export interface AccountCounter<Label extends string> {
  /** Adds `by`, 1 by default; 0 makes the series exist. */
  add(labels: Readonly<Record<Label | 'account', string>>, by?: number): void;
  removeAccount(account: string): void;
}

export function createAccountCounter<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: AccountCounterOptions<Label>,
): AccountCounter<Label> {
  type Labels = Readonly<Record<Label | 'account', string>>;
  const names = ['account' as const, ...labelNames];
  const counter = new Counter<Label | 'account'>({
    name,
    help,
    labelNames: names,
    registers: [registry],
  });
  // prom-client removes a series only by all of its labels.
  const seriesByAccount = new Map<string, Map<string, Labels>>();

  return {
    add: (labels, by = 1) => {
      const series = seriesByAccount.get(labels.account) ?? new Map<string, Labels>();
      seriesByAccount.set(labels.account, series);
      series.set(JSON.stringify(labelNames.map((label) => labels[label])), labels);
      counter.inc(labels, by);
    },
    removeAccount: (account) => {
      for (const labels of seriesByAccount.get(account)?.values() ?? []) counter.remove(labels);
      seriesByAccount.delete(account);
    },
  };
}
