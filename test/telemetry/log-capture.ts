import type { Logger } from '../../src/model/telemetry.ts';
import { createLogger, type LogFormat, type LogLevel } from '../../src/telemetry/logger.ts';
import { createRedactor, type Redactor } from '../../src/telemetry/redactor.ts';

export interface CaptureOptions {
  readonly level?: LogLevel;
  readonly format?: LogFormat;
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
}

/** A logger and the lines that it wrote. */
export interface LogCapture {
  readonly log: Logger;
  readonly redactor: Redactor;
  readonly lines: readonly string[];
}

export async function captureLog(options: CaptureOptions = {}): Promise<LogCapture> {
  const redactor = createRedactor();
  const lines: string[] = [];
  const log = await createLogger(
    { logLevel: options.level ?? 'info', logFormat: options.format ?? 'json' },
    {
      stderr: {
        isTTY: options.isTTY,
        write: (line) => lines.push(line),
        on: () => undefined,
      },
      redactor,
      clock: { wallMs: () => Date.UTC(2026, 8, 1, 10, 0, 30, 250) },
      env: options.env ?? {},
    },
  );
  return { log, redactor, lines };
}
