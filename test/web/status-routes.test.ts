import { createHash } from 'node:crypto';
import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { Script } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { StatusSource } from '../../src/model/status.ts';
import type { Answer } from '../../src/web/answer.ts';
import { createStatusRoutes } from '../../src/web/status-routes.ts';
import { anApplicationStatus, aStatusSource } from '../support/status-source.ts';

const withMail = aStatusSource({ applications: [anApplicationStatus({ id: '5', name: 'mail' })] });

async function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  socket: Socket = new Socket(),
  source: StatusSource = withMail,
): Promise<Answer> {
  const routes = createStatusRoutes(
    { telemetryPath: '/metrics' },
    { status: source, nextTurn: async () => {} },
  );
  const request = new IncomingMessage(socket);
  request.url = url;
  Object.assign(request.headers, headers);
  const route = routes.get(url.split('?')[0] ?? '');
  if (route === undefined) throw new Error(`no route for ${url}`);
  return route(request);
}

const bodyOf = ({ body }: Answer): string => Buffer.concat(body).toString();

describe('createStatusRoutes', () => {
  it.each([
    { url: '/', status: 200, holds: '>mail<' },
    { url: '/?q=nothing', status: 200, holds: 'No matches.' },
    {
      url: '/applications?account=production&id=5',
      status: 200,
      holds: '<h1><bdi>mail</bdi></h1>',
    },
    { url: '/applications?account=production&id=6', status: 404, holds: 'Not found' },
  ])('answers $url with $status', async ({ url, status, holds }) => {
    const answer = await ask(url);

    expect(answer.status).toBe(status);
    expect(answer.headers['Content-Type']).toBe('text/html; charset=utf-8');
    expect(bodyOf(answer)).toContain(holds);
  });

  it.each(Object.getOwnPropertyNames(Object.prototype))(
    'answers addresses with %s, which every object has, as with any other name',
    async (name) => {
      const sameBody = async (query: string): Promise<string> =>
        bodyOf(await ask(`/?${query}`)).replaceAll(name, 'x');
      const unknown = await ask(`/applications?account=${name}&id=${name}`);
      const targets = await ask(`/api/v1/targets?state=${name}`);
      const pool = await ask(`/api/v1/targets?scrapePool=${name}&app_id=${name}`);

      for (const param of ['state', 'sort', 'account', 'page', 'q']) {
        expect(await sameBody(`${param}=${name}`)).toBe(bodyOf(await ask(`/?${param}=x`)));
      }
      expect(await sameBody(`${name}=1`)).toBe(bodyOf(await ask('/')));
      expect([unknown.status, targets.status, pool.status]).toEqual([404, 400, 200]);
      expect(JSON.parse(bodyOf(pool))).toMatchObject({ data: { activeTargets: [] } });
    },
  );

  it('allows the style of the page, its script, and nothing else', async () => {
    const answer = await ask('/');
    const [, style = ''] = /<style>([^<]*)<\/style>/u.exec(bodyOf(answer)) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');

    expect(answer.headers['Content-Security-Policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
  });

  it('serves the script that the pages name', async () => {
    const [, path = ''] = /<script src="\.([^"]+)"/u.exec(bodyOf(await ask('/'))) ?? [];
    const answer = await ask(path);

    expect(answer.headers['Content-Type']).toBe('text/javascript; charset=utf-8');
    expect(() => new Script(bodyOf(answer))).not.toThrow();
  });

  it('compresses for those who want it', async () => {
    const plain = await ask('/');
    const answer = await ask('/', { 'accept-encoding': 'gzip, deflate, br' });

    expect(plain.headers['Content-Encoding']).toBeUndefined();
    expect(plain.headers['Vary']).toBe('Accept-Encoding');
    expect(answer.headers).toMatchObject({ 'Content-Encoding': 'gzip', Vary: 'Accept-Encoding' });
    expect(gunzipSync(Buffer.concat(answer.body)).toString()).toBe(bodyOf(plain));
  });

  it.each([
    { url: '/config', accept: '*/*', type: 'text/yaml' },
    { url: '/config', accept: 'text/html,*/*;q=0.8', type: 'text/html' },
    { url: '/config?format=yaml', accept: 'text/html', type: 'text/yaml' },
  ])('shows the configuration as $type: $url for $accept', async ({ url, accept, type }) => {
    const answer = await ask(url, { accept });

    expect(answer.status).toBe(200);
    expect(answer.headers['Content-Type']).toBe(`${type}; charset=utf-8`);
    expect(bodyOf(answer)).toContain('requests_per_minute: 800');
  });

  it('answers 503 to a program while there is no configuration', async () => {
    const source = { ...aStatusSource(), effectiveConfig: () => undefined };
    const answer = await ask('/config', {}, new Socket(), source);

    expect(answer.status).toBe(503);
    expect(bodyOf(answer)).toContain('no usable configuration');
  });
});
