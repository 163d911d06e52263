import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readDocument } from '../docs/documents.ts';
import { freePort, get, until, withFiles } from '../support/daemon-process.ts';
import { toolOrSkip } from '../support/tools.ts';
import { alertsOf, readRuleFiles } from './rule-files.ts';

const amtool = toolOrSkip('amtool', process.env, 'apt-get install prometheus-alertmanager');
const rules = readDocument('examples/alertmanager.yml').text;
const config = `route: { receiver: pager }\nreceivers: [{ name: pager }]\n${rules}`;

/** The alerts that fire when the key of an account of three applications is refused. */
const ofWrongKey = [
  ...['AuthenticationFailing', 'DiscoveryFailing', 'PollsFailing', 'ApiErrors', 'QueryFailing'].map(
    (name) => [name, ''],
  ),
  ...['11', '12', '13'].map((id) => ['DataStale', id]),
  ['NeverPolled', '14'],
] as const;

async function isReady(url: string, { exitCode }: ChildProcess): Promise<true | undefined> {
  if (exitCode !== null) throw new Error('Alertmanager ended');
  return get(`${url}/-/ready`).then(
    ({ status }) => (status === 200 ? true : undefined),
    () => undefined,
  );
}

/** Gives the alerts to a real Alertmanager, and resolves to those that it sends. */
async function sentOf(alerts: readonly Readonly<Record<string, string>>[]): Promise<unknown> {
  return withFiles({ 'alertmanager.yml': config }, async (folder) => {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    // Debian gives it another name.
    const isElsewhere = toolOrSkip('alertmanager', { PATH: process.env['PATH'] }).skip;
    const path = isElsewhere ? 'prometheus-alertmanager' : 'alertmanager';
    const child = spawn(
      path,
      [
        `--config.file=${join(folder, 'alertmanager.yml')}`,
        `--storage.path=${folder}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--cluster.listen-address=',
      ],
      { stdio: 'ignore' },
    );
    const closed = once(child, 'close');
    try {
      await until(async () => isReady(url, child));
      await fetch(`${url}/api/v2/alerts`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify(alerts.map((labels) => ({ labels }))),
      });
      // What inhibits an alert is known a moment after it has arrived.
      return await until(async () => {
        const { text } = await get(`${url}/api/v2/alerts?inhibited=false`);
        const active = JSON.parse(text) as readonly { labels: Record<string, string> }[];
        return active.length === 2 ? active.map(({ labels }) => labels['alertname']) : undefined;
      }, 20_000);
    } finally {
      child.kill('SIGTERM');
      await closed;
    }
  });
}

describe('the inhibition rules of examples/alertmanager.yml', () => {
  it('name alerts that exist', () => {
    const known = new Set(alertsOf(readRuleFiles()).map(({ alert }) => alert));
    const named = [...rules.matchAll(/NewRelicExporter(?:\(([\w|]+)\)|(\w+))/gu)].flatMap(
      ([, many, one = '']) => (many ?? one).split('|').map((name) => `NewRelicExporter${name}`),
    );

    expect(named.length).toBeGreaterThan(10);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});

describe.skipIf(amtool.skip)(`Alertmanager${amtool.note}`, () => {
  it('accepts them', async () => {
    const { status, text } = await withFiles({ 'alertmanager.yml': config }, async (folder) => {
      const args = ['check-config', join(folder, 'alertmanager.yml')];
      const {
        status: exitCode,
        stdout,
        stderr,
      } = spawnSync(amtool.path, args, {
        encoding: 'utf8',
      });
      return { status: exitCode, text: `${stdout}${stderr}` };
    });

    expect(status).toBe(0);
    expect(text).toContain('6 inhibit rules');
  });

  it('sends one alert of a wrong key, and those of another account', async () => {
    const alerts = ofWrongKey.map(([name, id]) => ({
      alertname: `NewRelicExporter${name}`,
      cluster: 'eu-1',
      account: 'production',
      ...(id !== '' && { app_id: id, app_name: `app ${id}` }),
    }));
    const other = { alertname: 'NewRelicExporterApiErrors', cluster: 'eu-1', account: 'other' };

    expect(await sentOf([...alerts, other])).toEqual(
      expect.arrayContaining(['NewRelicExporterAuthenticationFailing', other.alertname]),
    );
  });

  it('sends what another exporter has, though both call their account the same', async () => {
    const of = (name: string, instance: string) => ({
      alertname: `NewRelicExporter${name}`,
      job: 'newrelic-exporter',
      instance,
      account: 'default',
    });

    const sent = await sentOf([
      of('AuthenticationFailing', 'a:9126'),
      of('PollsFailing', 'a:9126'),
      of('DiscoveryFailing', 'a:9126'),
      of('PollsFailing', 'b:9126'),
    ]);

    expect(sent).toEqual(
      expect.arrayContaining([
        'NewRelicExporterAuthenticationFailing',
        'NewRelicExporterPollsFailing',
      ]),
    );
  });

  it('sends the query that fails instead of the share of calls that fail, and those of another account', async () => {
    const of = (name: string, account: string) => ({
      alertname: `NewRelicExporter${name}`,
      cluster: 'eu-1',
      account,
    });
    const failing = { ...of('QueryFailing', 'production'), query: 'shop_orders' };

    const sent = await sentOf([failing, of('ApiErrors', 'production'), of('ApiErrors', 'other')]);

    expect(sent).toEqual(expect.arrayContaining([failing.alertname, 'NewRelicExporterApiErrors']));
  });
});
