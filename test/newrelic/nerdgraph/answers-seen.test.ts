import { describe, expect, it } from 'vitest';
import { SeenMetrics } from '../../../src/newrelic/nerdgraph/answers.ts';

const [web, other] = ['HttpDispatcher', 'OtherTransaction/all'];

/** Such as `1 HttpDispatcher` of an application, `1 a HttpDispatcher` of a host. */
function seenOf(seen: SeenMetrics): readonly string[] {
  return ['1', '2'].flatMap((id) =>
    [undefined, 'a', 'b'].flatMap((host) =>
      [web, other]
        .filter((metric) => seen.has(id, host, metric))
        .map((metric) => [id, host, metric].filter(Boolean).join(' ')),
    ),
  );
}

function someSeen(): SeenMetrics {
  const seen = new SeenMetrics();
  seen.saw('1', undefined, web);
  seen.saw('1', undefined, web);
  seen.saw('1', 'a', other);
  seen.saw('1', 'b', other);
  seen.saw('1', 'b', web);
  seen.saw('2', 'a', web);
  return seen;
}

describe('the metrics that were seen', () => {
  it('are those of each application, and of each of its hosts', () => {
    expect(seenOf(new SeenMetrics())).toEqual([]);
    expect(seenOf(someSeen())).toEqual([
      `1 ${web}`,
      `1 a ${other}`,
      `1 b ${web}`,
      `1 b ${other}`,
      `2 a ${web}`,
    ]);
  });

  it('are forgotten with their application', () => {
    const seen = someSeen();
    seen.keepOnly(new Set(['2', '3']));
    expect(seenOf(seen)).toEqual([`2 a ${web}`]);

    seen.saw('1', 'a', web);
    seen.saw('1', 'a', other);
    expect(seenOf(seen)).toEqual([`1 a ${web}`, `1 a ${other}`, `2 a ${web}`]);
  });

  it('are forgotten with their host, but not those of the application', () => {
    const seen = someSeen();
    seen.keepHosts('1', new Set(['b', 'c']));
    seen.keepHosts('3', new Set());

    expect(seenOf(seen)).toEqual([`1 ${web}`, `1 b ${web}`, `1 b ${other}`, `2 a ${web}`]);
  });
});
