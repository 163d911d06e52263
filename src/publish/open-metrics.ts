/** The formats of a page: Prometheus' text format 0.0.4, and OpenMetrics 1.0. */
export type Format = 'text' | 'openmetrics';

const familyHead = /^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$/gm;

/**
 * Turns whole families from text format 0.0.4 into the end of a page in OpenMetrics. Samples are the same
 * in both, but a counter's family has no `_total` in its name there, and quotes in a help text are escaped.
 * A family of gauges without quotes in its help, such as all of New Relic's, is the same in both
 * formats.
 *
 * A registry of prom-client can do this too, but only for good: it renames its counters in place, and
 * from then on the text format lacks `_total`.
 */
export function toOpenMetrics(text: string): string {
  const families = text.replaceAll(familyHead, (_, name: string, help: string, type: string) => {
    const family = type === 'counter' && name.endsWith('_total') ? name.slice(0, -6) : name;
    return `# HELP ${family} ${help.replaceAll('"', String.raw`\"`)}\n# TYPE ${family} ${type}`;
  });
  return `${families}# EOF\n`;
}
