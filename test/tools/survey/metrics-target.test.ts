import { describe, expect, it } from 'vitest';
import type { FleetOptions } from '../../../src/simulator/fleet-options.ts';
import { type ListingOptions, type Row, unmet } from '../metrics/metrics-bench.ts';

const host = '--host=ip-10-1-19-12';

describe('the application of metrics, and its host', () => {
  const two = (first: string, second: string): string =>
    `accounts: [{ name: first, api_key_env: KEY }, { name: second, api_key_env: KEY }]\napps: [{ id: 1, account: ${first} }, { id: 1, account: ${second} }]`;
  const alone = (source: string): ListingOptions => ({
    config: `accounts: [{ name: main, api_key_env: KEY, source: ${source}, account_id: 1234567 }]\napps: [{ id: 1 }]`,
    fleet: { applications: [] },
  });
  const called = (first: string, second?: string): FleetOptions => ({
    applications: [
      { id: 11, name: first, hosts: 1 },
      ...(second === undefined ? [] : [{ id: 12, name: second, hosts: 1 }]),
    ],
  });
  const none = (wanted: string): string =>
    `no application with the id or the name "${wanted}" was found in account `;
  const twins = '{"application_hosts":[{"id":1,"host":"twin"},{"id":2,"host":"twin"}]}';
  const yaml = ['-o', 'yaml'];
  const ofHost = /^\/v2\/applications\/11\/hosts\/100000627\/metrics\.json$/u;
  const ofApplication = /^\/v2\/applications\/11\/metrics\.json$/u;
  const found = { exits: 0, stdout: [], asks: ofApplication };
  const lists = /applications\.json/u;

  it.each<Row>([
    {
      what: 'is found by the id of the host',
      args: ['11', '--host=100000627', ...yaml],
      ...found,
      asks: ofHost,
    },
    {
      what: 'is found by the name of the host',
      args: ['11', host, ...yaml],
      ...found,
      asks: ofHost,
    },
    {
      what: 'has no host of that name',
      args: ['shop', '--host', 'ip-10'],
      exits: 1,
      stderr: [/^application 11 "shop" has no host with the id or the name "ip-10"\n$/u],
      asks: /hosts\.json/u,
    },
    {
      what: 'has two hosts with one name: their ids are listed',
      args: ['11', '--host=twin'],
      faults: [{ when: { endpoints: ['hosts'] }, fault: { kind: 'document', body: twins } }],
      exits: 1,
      stderr: [
        /^application 11 "shop" has 2 hosts with the name "twin": give the id of one of them with --host: 1, 2\n$/u,
      ],
    },
    {
      what: 'is not there, but one with a name like it',
      args: ['Shop'],
      exits: 1,
      stderr: [`${none('Shop')}default: did you mean "shop"?\n`],
    },
    {
      what: 'is not there, nor anything like it',
      args: ['99'],
      exits: 1,
      stderr: [
        `${none('99')}default: the account has 1 application: newrelic-exporter discover lists them\n`,
      ],
    },
    {
      what: 'is not in an account that REST finds empty',
      args: ['shop'],
      ...alone('rest'),
      exits: 1,
      stderr: [`${none('shop')}main: the key sees no application: with "source: rest" it sees`],
    },
    {
      what: 'is not in an account of which NerdGraph lists no such name',
      args: ['shop'],
      ...alone('nerdgraph'),
      exits: 1,
      stderr: [`${none('shop')}main: newrelic-exporter discover lists all of them\n`],
    },
    {
      what: 'must be one: several of a name are listed with their ids',
      args: ['twin'],
      fleet: called('twin', 'twin'),
      exits: 1,
      stderr: [
        /^2 applications have the name or the id "twin": give the id of one of them\n {2}11 {2}twin {2}\(account default\)\n {2}12 {2}twin {2}\(account default\)\n$/u,
      ],
      asks: lists,
    },
    {
      what: 'is the one with that id, whatever another one is called',
      args: ['11', ...yaml],
      fleet: called('shop', '11'),
      ...found,
    },
    { what: 'may have a name of digits', args: ['404', ...yaml], fleet: called('404'), ...found },
    {
      what: 'is looked for in every account with entries',
      args: ['shop'],
      config: two('first', 'second'),
      exits: 1,
      stderr: ['name the account with --account\n  11  shop  (account first)\n'],
      asks: lists,
    },
    {
      what: 'is looked for in the one account that is named',
      args: ['shop', '--account=second', ...yaml],
      config: two('first', 'first'),
      ...found,
      stderr: [],
    },
    {
      what: 'is not looked for in an account that is not in the configuration',
      args: ['shop', '--account=secnod'],
      config: two('first', 'second'),
      exits: 2,
      stderr: ['account "secnod" is not in the configuration: did you mean "second"?\n'],
      asks: /^$/u,
    },
    {
      what: 'cannot be found with a key that New Relic refuses',
      args: ['shop'],
      faults: [{ fault: { kind: 'status', status: 401 } }],
      exits: 1,
      stderr: [
        /^account default: discovery failed: .*\nno application with the id or the name "shop" was found in account default\n$/u,
      ],
    },
  ])('$what', async (row) => {
    expect(await unmet(row)).toEqual([]);
  });
});
