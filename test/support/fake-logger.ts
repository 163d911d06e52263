import type { Logger } from '../../src/model/telemetry.ts';

export interface LogLine {
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface FakeLogger extends Logger {
  readonly lines: LogLine[];
}

export function createFakeLogger(): FakeLogger {
  const lines: LogLine[] = [];
  const at =
    (level: LogLine['level']) =>
    (fields: Readonly<Record<string, unknown>>, message: string): void => {
      lines.push({ level, message, fields });
    };
  return { lines, debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
}
