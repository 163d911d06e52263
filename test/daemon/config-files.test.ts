import { describe, expect, it } from 'vitest';
import { diagnosticsOf, renderDiagnostics, warningAt } from '../../src/config/diagnostic.ts';
import { logWarnings } from '../../src/daemon/config-files.ts';
import { createFakeLogger } from '../support/fake-logger.ts';

function warnings(count: number): ReturnType<typeof diagnosticsOf> {
  const problems = Array.from({ length: count }, (_, at) => warningAt(undefined, `odd ${at}`));
  return diagnosticsOf('config.yaml', problems);
}

describe('renderDiagnostics', () => {
  it('writes the first fifty warnings, and how many more there are', () => {
    const rows = renderDiagnostics(warnings(60)).split('\n');

    expect(rows).toHaveLength(51);
    expect(rows.slice(49)).toEqual([
      'config.yaml: warning: odd 49',
      'and 10 more: newrelic-exporter check-config shows all',
    ]);
  });
});

describe('logWarnings', () => {
  it.each([
    {
      count: 50,
      lines: 50,
      last: { level: 'warn', message: 'configuration warning', fields: { file: 'config.yaml' } },
    },
    {
      count: 60,
      lines: 51,
      last: { message: 'more configuration warnings: see check-config', fields: { more: 10 } },
    },
  ])('writes $lines lines for $count warnings', ({ count, lines, last }) => {
    const logger = createFakeLogger();

    logWarnings(warnings(count), 'c.yaml', logger);

    expect(logger.lines).toHaveLength(lines);
    expect(logger.lines.at(-1)).toMatchObject(last);
  });
});
