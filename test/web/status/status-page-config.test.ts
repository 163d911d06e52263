import { describe, expect, it } from 'vitest';
import type { StatusSource } from '../../../src/model/status.ts';
import { configPage } from '../../../src/web/status/status-page.ts';
import { textOf } from '../../support/html-parts.ts';
import { aProcessStatus, aStatusSource, statusNowMs } from '../../support/status-source.ts';

function pageOf(source: StatusSource): string {
  return configPage(source, {
    telemetryPath: '/metrics',
  });
}

describe('configPage', () => {
  it('shows the active configuration, as it is written', () => {
    const page = pageOf(aStatusSource({ effectiveConfig: 'apps:\n  - match: "<&>"\n' }));

    expect(page).toContain('>apps:\n  - match: &quot;&lt;&amp;&gt;&quot;\n</pre>');
    expect(textOf(page)).not.toContain('The configuration has an error');
  });

  it('shows why the last one was refused, line by line', () => {
    const problem = 'config.yaml:5:5: unknown key "nmae"\n    5 |     nmae: shop\n      |     ^^^^';
    const reload = { ...aProcessStatus().reload, problem, lastAttemptMs: statusNowMs - 40_000 };
    const page = pageOf(aStatusSource({ process: aProcessStatus({ reload }) }));

    expect(page).toContain(problem.replaceAll('"', '&quot;'));
    expect(textOf(page)).toContain('It was refused: the previous one stays active.');
    expect(page).toContain('apps:\n');
  });

  it('says so while none is loaded', () => {
    const reload = { ...aProcessStatus().reload, inForceSinceMs: undefined, problem: 'no file' };
    const source = aStatusSource({ process: aProcessStatus({ reload }) });
    const text = textOf(pageOf({ ...source, effectiveConfig: () => undefined }));

    expect(text).toContain('No configuration is loaded.');
    expect(text).toContain('Nothing is polled until it is usable. It is tried again');
    expect(text).not.toContain('apps:');
  });
});
