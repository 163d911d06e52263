import { describe, expect, it } from 'vitest';
import { listing } from '../metrics/metrics-bench.ts';

describe('metrics of a host', () => {
  it.each(['100000627', 'ip-10-1-19-12'])('finds it by %s', async (host) => {
    const { exitCode, targets } = await listing(['11', `--host=${host}`, '-o', 'yaml']);

    expect(exitCode).toBe(0);
    expect(targets.at(-1)).toBe('/v2/applications/11/hosts/100000627/metrics.json');
  });

  it('says so if it has none of that name', async () => {
    const { exitCode, stdout, stderr, targets } = await listing(['shop', '--host', 'ip-10']);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe('application 11 "shop" has no host with the id or the name "ip-10"\n');
    expect(targets.join()).not.toContain('metrics.json');
  });

  it('lists the ids of hosts that share a name', async () => {
    const body = JSON.stringify({
      application_hosts: [
        { id: 1, host: 'twin' },
        { id: 2, host: 'twin' },
      ],
    });

    const { exitCode, stderr } = await listing(['11', '--host=twin'], {
      faults: [{ when: { endpoints: ['hosts'] }, fault: { kind: 'document', body } }],
    });

    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'application 11 "shop" has 2 hosts with the name "twin": give the id of one of them with --host: 1, 2\n',
    );
  });
});

describe('the application of metrics', () => {
  const two = (first: string, second: string): string =>
    `accounts: [{ name: first, api_key_env: KEY }, { name: second, api_key_env: KEY }]\napps: [{ id: 1, account: ${first} }, { id: 1, account: ${second} }]`;

  it.each([
    { wanted: 'Shop', hint: 'did you mean "shop"?' },
    {
      wanted: '99',
      hint: 'the account has 1 application: newrelic-exporter discover lists them',
    },
  ])('$wanted is not there', async ({ wanted, hint }) => {
    const { exitCode, stdout, stderr } = await listing([wanted]);

    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe(
      `no application with the id or the name "${wanted}" was found in account default: ${hint}\n`,
    );
  });

  it.each([
    { source: 'rest', hint: 'the key sees no application: with "source: rest" it sees' },
    { source: 'nerdgraph', hint: 'newrelic-exporter discover lists all of them' },
  ])('is not in an account that $source finds empty', async ({ source, hint }) => {
    const config = `accounts: [{ name: main, api_key_env: KEY, source: ${source}, account_id: 1234567 }]\napps: [{ id: 1 }]`;

    const { exitCode, stderr } = await listing(['shop'], { config, fleet: { applications: [] } });

    expect(exitCode).toBe(1);
    expect(stderr).toContain(`was found in account main: ${hint}`);
  });

  it('must be one: several of a name are listed with their ids', async () => {
    const { exitCode, stderr, targets } = await listing(['twin'], {
      fleet: {
        applications: [
          { id: 11, name: 'twin' },
          { id: 12, name: 'twin' },
        ],
      },
    });

    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      '2 applications have the name or the id "twin": give the id of one of them\n  11  twin  (account default)\n  12  twin  (account default)\n',
    );
    expect(targets).toHaveLength(1);
  });

  it('is the one with that id, whatever another one is called', async () => {
    const { exitCode, targets } = await listing(['11'], {
      fleet: {
        applications: [
          { id: 11, name: 'shop', hosts: 1 },
          { id: 12, name: '11', hosts: 1 },
        ],
      },
    });

    expect(exitCode).toBe(0);
    expect(targets).toContain('/v2/applications/11/metrics.json');
  });

  it('may have a name of digits', async () => {
    const { exitCode, targets } = await listing(['404'], {
      fleet: { applications: [{ id: 11, name: '404', hosts: 1 }] },
    });

    expect(exitCode).toBe(0);
    expect(targets).toContain('/v2/applications/11/metrics.json');
  });

  it('is looked for in every account with entries, or in the one that is named', async () => {
    const both = await listing(['shop'], { config: two('first', 'second') });
    const named = await listing(['shop', '--account=second'], { config: two('first', 'first') });

    expect(both.exitCode).toBe(1);
    expect(both.stderr).toContain('name the account with --account\n  11  shop  (account first)\n');
    expect(named.exitCode).toBe(0);
    expect(named.targets.filter((target) => target.includes('metrics.json'))).toHaveLength(1);
  });

  it('is not looked for in an account that is not in the configuration', async () => {
    const { exitCode, stderr, targets } = await listing(['shop', '--account=secnod'], {
      config: two('first', 'second'),
    });

    expect({ exitCode, targets }).toEqual({ exitCode: 2, targets: [] });
    expect(stderr).toContain(
      'account "secnod" is not in the configuration: did you mean "second"?\n',
    );
  });

  it('cannot be found with a key that New Relic refuses', async () => {
    const { exitCode, stderr } = await listing(['shop'], {
      faults: [{ fault: { kind: 'status', status: 401 } }],
    });

    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^account default: discovery failed: .*\nno application with the id or the name "shop" was found in account default\n$/u,
    );
    expect(stderr).not.toContain('NRAK-GOOD');
  });
});
