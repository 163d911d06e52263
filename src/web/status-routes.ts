import type { IncomingMessage } from 'node:http';
import type { StatusSource } from '../model/status.ts';
import { type Answer, compressed, plainAnswer, textAnswer } from './answer.ts';
import { paramsOf } from './request-parts.ts';
import { applicationPage, unknownApplicationPage } from './status/application-page.ts';
import type { PageContext } from './status/document.ts';
import { configPage } from './status/process.ts';
import { refreshScript, scriptPath } from './status/refresh-script.ts';
import { statusPage } from './status/status-page.ts';
import { styleSource } from './status/style.ts';
import { targetsJson, targetsQueryOf } from './status/targets-json.ts';

export interface StatusRoutesDependencies {
  readonly status: StatusSource;
  /** Resolves after other work of the process has had its turn. */
  readonly nextTurn: () => Promise<void>;
}

export type StatusRoute = (request: IncomingMessage) => Answer | Promise<Answer>;

/** The style has a hash, and the script an address of its own: nothing else is styled or run. */
function policyOf(style: string): string {
  return [
    "default-src 'none'",
    `style-src ${style}`,
    "script-src 'self'",
    "connect-src 'self'",
    'img-src data:',
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Browsers say that they want HTML; `?format=yaml` says otherwise. */
function wantsHtml(request: IncomingMessage): boolean {
  return (
    paramsOf(request).get('format') !== 'yaml' && /text\/html/i.test(request.headers.accept ?? '')
  );
}

/** The effective configuration for programs. */
function yamlAnswer(source: StatusSource): Answer {
  const text = source.effectiveConfig();
  return text === undefined
    ? plainAnswer(503, 'There is no usable configuration yet. The status page says why.')
    : textAnswer(200, 'text/yaml; charset=utf-8', text);
}

function jsonAnswer(status: number, value: unknown): Answer {
  return textAnswer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

async function targetsAnswer(
  request: IncomingMessage,
  { status, nextTurn }: StatusRoutesDependencies,
): Promise<Answer> {
  const query = targetsQueryOf(paramsOf(request));
  if ('problem' in query) {
    return jsonAnswer(400, { status: 'error', errorType: 'bad_data', error: query.problem });
  }
  const body: Buffer[] = [];
  for (const part of targetsJson(status, query)) {
    body.push(Buffer.from(part));
    await nextTurn();
  }
  return compressed(request, { ...textAnswer(200, 'application/json', ''), body });
}

/** The pages for people and the answers for programs, by their paths. */
export function createStatusRoutes(
  context: PageContext,
  dependencies: StatusRoutesDependencies,
): ReadonlyMap<string, StatusRoute> {
  const { status: source } = dependencies;
  const headers = { 'Content-Security-Policy': policyOf(styleSource()) };

  const answerOf = async (request: IncomingMessage, text: string, status = 200): Promise<Answer> =>
    compressed(request, textAnswer(status, 'text/html; charset=utf-8', text, headers));

  return new Map<string, StatusRoute>([
    ['/', async (request) => answerOf(request, statusPage(source, paramsOf(request), context))],
    [
      '/config',
      async (request) =>
        wantsHtml(request)
          ? answerOf(request, configPage(source, context))
          : compressed(request, yamlAnswer(source)),
    ],
    [
      '/applications',
      async (request) => {
        const params = paramsOf(request);
        const page = applicationPage(source, params, context);
        return page === undefined
          ? answerOf(request, unknownApplicationPage(params, context), 404)
          : answerOf(request, page);
      },
    ],
    [
      scriptPath,
      async (request) =>
        compressed(request, textAnswer(200, 'text/javascript; charset=utf-8', refreshScript)),
    ],
    ['/api/v1/targets', async (request) => targetsAnswer(request, dependencies)],
  ]);
}
