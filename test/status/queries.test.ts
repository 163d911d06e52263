import { describe, expect, it } from 'vitest';
import type { ApplicationStatus } from '../../src/model/status.ts';
import { queriesSection } from '../../src/status/queries.ts';
import { aQuery } from '../support/builders.ts';
import { textOf } from '../support/html-parts.ts';
import {
  anAccountDetails,
  anApplicationStatus,
  aReading,
  inState,
  statusNowMs,
} from '../support/status-source.ts';

function aQueryStatus(name: string, parts: Partial<ApplicationStatus> = {}): ApplicationStatus {
  const query = { ...aQuery, name };
  return { ...anApplicationStatus({ name }), query, ...parts };
}

const series = { gauge: 0, labels: [], value: 1 };
const working = aQueryStatus('working', {
  intervalSeconds: 30,
  reading: { ...aReading(), query: { series: [series], rows: 3, leftOut: 2, unusable: 4 } },
});
const failing = aQueryStatus('failing <b>', inState('failing'));
const account = anAccountDetails({ queries: [working, failing] });

function shown(chosen = ''): string {
  const section = queriesSection([account], chosen, statusNowMs);
  return section === undefined ? '' : textOf(section.toString());
}

describe('the section of queries', () => {
  it('says state, rows, series, cost and cause, those with problems first', () => {
    const text = shown();

    expect(text.indexOf('failing <b>')).toBeLessThan(text.indexOf('working'));
    expect(text).toContain('3 rows, 1 series, 2 beyond max_series, 4 absent or no number');
    expect(text).toMatch(/in \d+ s\s+2\s+SELECT count/u);
    expect(text).toContain(failing.failure?.message);
  });

  it('is not there without queries, or for another account', () => {
    expect(queriesSection([anAccountDetails()], '', statusNowMs)).toBeUndefined();
    expect(shown('another')).toBe('');
  });
});
