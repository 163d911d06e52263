import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Script } from 'node:vm';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { until } from '../support/daemon-process.ts';
import { anApplicationStatus, aStatusSource } from '../support/status-source.ts';
import { open, type Reply, readReply, withServer } from './harness.ts';

const withMail = aStatusSource({ applications: [anApplicationStatus({ id: '5', name: 'mail' })] });

async function ask(
  url: string,
  headers: Readonly<Record<string, string>> = {},
  status = withMail,
): Promise<Reply> {
  const replies: Reply[] = [];
  await withServer({ status }, async ({ get }) => {
    replies.push(await get(url, { headers }));
  });
  const [reply] = replies;
  if (reply === undefined) throw new Error(`no answer for ${url}`);
  return reply;
}

const bodyOf = ({ body }: Reply): string => body.toString();

describe('the pages', () => {
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
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
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

    expect(answer.headers['content-security-policy']).toBe(
      `default-src 'none'; style-src 'sha256-${hash}'; script-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
    );
  });

  it('serves the script that the pages name', async () => {
    const [, path = ''] = /<script src="\.([^"]+)"/u.exec(bodyOf(await ask('/'))) ?? [];
    const answer = await ask(path);

    expect(answer.headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect(() => new Script(bodyOf(answer))).not.toThrow();
  });

  it('compresses for those who want it', async () => {
    const plain = await ask('/');
    const answer = await ask('/', { 'accept-encoding': 'gzip, deflate, br' });

    expect(plain.headers['content-encoding']).toBeUndefined();
    expect(plain.headers.vary).toBe('Accept-Encoding');
    expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', vary: 'Accept-Encoding' });
    expect(gunzipSync(answer.body).toString()).toBe(bodyOf(plain));
  });

  it.each([
    { url: '/config', accept: '*/*', type: 'text/yaml' },
    { url: '/config', accept: 'text/html,*/*;q=0.8', type: 'text/html' },
    { url: '/config?format=yaml', accept: 'text/html', type: 'text/yaml' },
  ])('shows the configuration as $type: $url for $accept', async ({ url, accept, type }) => {
    const answer = await ask(url, { accept });

    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe(`${type}; charset=utf-8`);
    expect(bodyOf(answer)).toContain('requests_per_minute: 800');
  });

  it('answers 503 to a program while there is no configuration', async () => {
    const source = { ...aStatusSource(), effectiveConfig: () => undefined };
    const answer = await ask('/config', {}, source);

    expect(answer.status).toBe(503);
    expect(bodyOf(answer)).toContain('no usable configuration');
  });

  it('are made one at a time, with a turn for other work before each, and for nobody who has gone', async () => {
    const events: string[] = [];
    const release: (() => void)[] = [];
    const nextTurn = async (): Promise<void> => {
      events.push('turn');
      await new Promise<void>((resolve) => release.push(resolve));
    };
    const status = {
      ...withMail,
      process: () => {
        events.push('page');
        return withMail.process();
      },
    };
    await withServer({ status, nextTurn }, async ({ port, get }) => {
      const first = open(port, '/');
      await until(() => release.length > 0 || undefined);
      const gone = connect(port, '127.0.0.1');
      await once(gone, 'connect');
      gone.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      // An answer to another request: what was sent before has arrived.
      await get('/-/healthy');
      const last = get('/');
      await get('/-/healthy');
      gone.destroy();
      await get('/-/healthy');
      const before = [...events];
      for (let turn = 0; turn < 3; turn += 1) {
        release[turn]?.();
        await until(() => release.length > turn + 1 || turn === 2 || undefined);
      }
      await readReply(await first);
      await last;

      expect(before).toEqual(['turn']);
      expect(events).toEqual(['turn', 'page', 'turn', 'turn', 'page']);
    });
  });
});

describe('/api/v1/targets', () => {
  it('is JSON that nobody stores', async () => {
    const { status, headers, body } = await ask('/api/v1/targets?state=active');

    expect(status).toBe(200);
    expect(headers['content-type']).toBe('application/json');
    expect(headers['cache-control']).toBe('no-store');
    expect(JSON.parse(body.toString())).toMatchObject({ status: 'success' });
  });

  it('refuses an unknown state as Prometheus refuses a bad parameter', async () => {
    const { status, body } = await ask('/api/v1/targets?state=sick');

    expect(status).toBe(400);
    expect(JSON.parse(body.toString())).toEqual({
      status: 'error',
      errorType: 'bad_data',
      error: 'the parameter "state" must be any, active or dropped',
    });
  });
});
