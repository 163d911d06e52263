import { parseConfig } from '../../src/config/load-config.ts';
import type { Config } from '../../src/model/config.ts';
import { statusPage } from '../../src/web/status/status-page.ts';
import { targetsJson } from '../../src/web/status/targets-json.ts';
import type { FakeLogger, LogLine } from './fake-logger.ts';
import { textOf } from './html-parts.ts';
import { statusSourceOf } from './query-daemon.ts';
import type { RunningDaemon } from './running-daemon.ts';

export async function configOf(text: string): Promise<Config> {
  return (await parseConfig(text, { fileName: 'c.yaml', directory: '/' })).config;
}

export interface JsonProblem {
  readonly kind: string;
  readonly since: string | null;
  readonly text: string;
  readonly remedy: string;
  readonly subject: Record<string, string> | null;
}

/** What page and JSON say now. */
interface Surfaces {
  readonly headline: string;
  readonly tone: string | undefined;
  readonly page: string;
  readonly accounts: readonly {
    readonly name: string;
    readonly state: string;
    readonly problems: readonly JsonProblem[];
  }[];
  readonly process: { readonly problems: readonly JsonProblem[] };
}

export function surfaces(bench: RunningDaemon): Surfaces {
  const source = statusSourceOf(bench);
  const html = statusPage(source, new URLSearchParams(), { telemetryPath: '/metrics' });
  const { data } = JSON.parse(
    [
      ...targetsJson(source, { state: 'any', scrapePool: undefined, applicationId: undefined }),
    ].join(''),
  ) as {
    data: {
      accounts: readonly { name: string; state: string; problems: readonly JsonProblem[] }[];
      process: { problems: readonly JsonProblem[] };
    };
  };
  return {
    headline: /<p role="status">([^<]*)/u.exec(html)?.[1] ?? '',
    tone: /<div class="banner (\w+)"/u.exec(html)?.[1],
    page: textOf(html),
    accounts: data.accounts,
    process: data.process,
  };
}

/** Warnings, and what ends them, in their order. */
export function told({ lines }: FakeLogger, from = 0): readonly string[] {
  return lines.slice(from).map(({ message }: LogLine) => message);
}
