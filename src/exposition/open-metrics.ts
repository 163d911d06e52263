/** The formats of a page: Prometheus' text format 0.0.4, and OpenMetrics 1.0. */
export type Format = 'text' | 'openmetrics';

/** The last line of a page in OpenMetrics. */
export const endOfOpenMetrics = '# EOF\n';

const familyHead = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm;

/**
 * Turns whole families from text format 0.0.4 into OpenMetrics. Samples are the same in both, but a
 * counter's family has no `_total` in its name there, and quotes in a help text are escaped. A family of
 * gauges without quotes in its help, such as all of the vendor's, is the same in both formats.
 */
export function toOpenMetrics(text: string): string {
  return text.replaceAll(familyHead, (_, name: string, help: string, type: string) => {
    const family = type === 'counter' && name.endsWith('_total') ? name.slice(0, -6) : name;
    return `# HELP ${family} ${help.replaceAll('"', String.raw`\"`)}\n# TYPE ${family} ${type}`;
  });
}
