import type { AccountStatus } from '../model/telemetry.ts';

/**
 * `newrelic_exporter_app_missing`, rendered here and only when a list has changed: with ten thousand
 * entries prom-client would hold up everything else for 40 ms in each scrape.
 */
export interface MissingMetric {
  readonly name: string;
  /** The family in text format 0.0.4, byte for byte as prom-client prints it. */
  text(accounts: readonly Pick<AccountStatus, 'name' | 'missingSelectors'>[]): string;
}

interface Rendered {
  readonly selectors: readonly string[];
  readonly lines: string;
}

const name = 'newrelic_exporter_app_missing';
const header =
  `# HELP ${name} 1 for an entry of the configuration that matches nothing in the account.\n` +
  `# TYPE ${name} gauge\n`;

export function createMissingMetric(): MissingMetric {
  let renderedByAccount: ReadonlyMap<string, Rendered> = new Map();

  return {
    name,
    text: (accounts) => {
      renderedByAccount = new Map(
        accounts.map((account) => {
          const known = renderedByAccount.get(account.name);
          const isKnown = known?.selectors === account.missingSelectors;
          return [account.name, isKnown ? known : render(account)];
        }),
      );
      const lines = Array.from(renderedByAccount.values(), (rendered) => rendered.lines);
      return header + lines.join('');
    },
  };
}

function render(account: Pick<AccountStatus, 'name' | 'missingSelectors'>): Rendered {
  const { missingSelectors: selectors } = account;
  const start = `${name}{account="${escapeLabelValue(account.name)}",selector="`;
  let lines = '';
  for (const selector of new Set(selectors)) lines += `${start}${escapeLabelValue(selector)}"} 1\n`;
  return { selectors, lines };
}

function escapeLabelValue(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('"', '\\"');
}
