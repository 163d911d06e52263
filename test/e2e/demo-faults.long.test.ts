import { describe, expect, it } from 'vitest';
import { get, startProgram, stopProgram, until } from '../support/daemon-process.ts';

describe('the demo with faults', () => {
  it('says what goes wrong, and how to see it', async () => {
    const program = startProgram(['demo', '--web.listen-address=127.0.0.1:0', '--faults']);
    try {
      const port = await until(() => /localhost:(\d+)\//u.exec(program.stdout())?.[1]);
      const page = await until(async () => {
        const { text } = await get(`http://127.0.0.1:${port}/metrics`);
        const hasFailed = /operation="application_metrics",reason="server"\} [1-9]/u.test(text);
        return hasFailed ? text : undefined;
      });
      const [, command = ''] = /grep -E '(.*)'/u.exec(program.stdout()) ?? [];
      const shown = page.split('\n').filter((line) => new RegExp(command, 'u').test(line));

      expect(program.stdout()).toContain('What goes wrong, on purpose:');
      expect(shown).toContain(
        'newrelic_exporter_app_missing{account="demo",selector="name=Checkout (staging)"} 1',
      );
      expect(shown.join('\n')).toContain('reason="server"');
    } finally {
      const { code } = await stopProgram(program);
      expect(code).toBe(0);
    }
  });
});
