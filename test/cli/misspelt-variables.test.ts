import { describe, expect, it } from 'vitest';
import { flagTable } from '../../src/cli/flag-table.ts';
import { environmentVariableOf } from '../../src/cli/flags.ts';
import { misspeltVariables } from '../../src/cli/misspelt-variables.ts';

describe('misspeltVariables', () => {
  it.each([
    { name: 'NEWRELIC_EXPORTER_LOGLEVEL', meant: 'NEWRELIC_EXPORTER_LOG_LEVEL' },
    { name: 'NEWRELIC_EXPORTER_CONFIGFILE', meant: 'NEWRELIC_EXPORTER_CONFIG_FILE' },
    { name: 'NEWRELIC_EXPORTER_LISTEN_ADDRES', meant: undefined },
    { name: 'NEWRELIC_EXPORTER_WEB_LISTEN_ADDRES', meant: 'NEWRELIC_EXPORTER_WEB_LISTEN_ADDRESS' },
    { name: 'newrelic_exporter_log_level', meant: 'NEWRELIC_EXPORTER_LOG_LEVEL' },
    { name: 'NEWRELIC_EXPORTER_LOG_LEVEL', meant: undefined },
    { name: 'NEWRELIC_EXPORTER_API_KEY', meant: undefined },
    { name: 'NEWRELIC_EXPORTER_PORT', meant: undefined },
    { name: 'NEWRELIC_EXPORTER_SERVICE_HOST', meant: undefined },
    { name: 'NEWRELIC_EXPORTER_PORT_9126_TCP_ADDR', meant: undefined },
    { name: 'LOG_LEVEL', meant: undefined },
  ])('of $name is $meant', ({ name, meant }) => {
    expect(misspeltVariables({ [name]: 'x' })).toEqual(
      meant === undefined ? [] : [{ name, help: `did you mean "${meant}"?` }],
    );
  });

  it('are none of the variables that there are', () => {
    const names = Object.values(flagTable).map(environmentVariableOf);

    expect(misspeltVariables(Object.fromEntries(names.map((name) => [name, 'x'])))).toEqual([]);
  });
});
