import { describe, expect, it } from 'vitest';
import { queriesSection } from '../../../src/web/status/queries.ts';
import { textOf } from '../../support/html-parts.ts';
import {
  anAccountDetails,
  aQueryReading,
  aQueryStatus,
  statusNowMs,
} from '../../support/status-source.ts';

const working = aQueryStatus('working', 'up', { intervalSeconds: 30 });
const empty = aQueryStatus('empty', 'up', {
  reading: { ...aQueryReading, series: [], rows: 0, leftOut: 0, unusable: new Map() },
  missing: 'it has no rows: check FROM',
});
const failing = aQueryStatus('failing <b>', 'failing');
const account = anAccountDetails({ queries: [working, empty, failing] });

function shown(query = ''): string {
  const section = queriesSection([account], new URLSearchParams(query), statusNowMs);
  return section === undefined ? '' : textOf(section.toString());
}

describe('the section of queries', () => {
  it('says state, rows, series, cost and cause, those with problems first', () => {
    const text = shown();

    expect(text.indexOf('failing <b>')).toBeLessThan(text.indexOf('working'));
    expect(text).toContain('3 rows, 1 series, 2 beyond max_series, 4 null, 1 no number');
    expect(text).toMatch(/in \d+ s\s+2\s+SELECT count/u);
    expect(text).toContain(failing.failure?.message);
  });

  it('names what never has a value, with the remedy, and is amber', () => {
    expect(shown()).toMatch(/no value\s+empty/u);
    expect(shown()).toContain(empty.missing);
    expect(queriesSection([account], new URLSearchParams(), statusNowMs)?.toString()).toMatch(
      /class="state wait"[^>]*>no value/u,
    );
  });

  it('says a cause of the whole account only there', () => {
    const message = 'list_applications: status 401.';
    const refused = aQueryStatus('refused', 'failing', {
      failure: { reason: 'auth', message: 'query: status 401.', sinceMs: statusNowMs },
    });
    const down = anAccountDetails({
      state: 'down',
      error: message,
      errorReason: 'auth',
      queries: [refused],
    });
    const section = queriesSection([down], new URLSearchParams(), statusNowMs);

    expect(textOf(section?.toString() ?? '')).not.toMatch(/401|auth|dropped/u);
    expect(textOf(section?.toString() ?? '')).toMatch(/failing\s+refused[^]*SELECT count/u);
  });

  it('is not there without queries, or for another account', () => {
    expect(
      queriesSection([anAccountDetails()], new URLSearchParams(), statusNowMs),
    ).toBeUndefined();
    expect(shown('account=another')).toBe('');
  });
});
