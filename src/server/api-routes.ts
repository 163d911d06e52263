import type { IncomingMessage } from 'node:http';
import type { StatusSource } from '../model/status.ts';
import { shardTargets } from '../status/shard-targets.ts';
import { targetsJson, targetsQueryOf } from '../status/targets-json.ts';
import { type Answer, compressed, plainAnswer, textAnswer } from './answer.ts';
import { isTls, paramsOf } from './request-parts.ts';

export interface ApiRoutesOptions {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
  /** Addresses of the shards, with `{shard}` for the number; empty if they are not known. */
  readonly shardAddress: string;
}

export interface ApiRoutesDependencies {
  readonly status: StatusSource;
  /** Resolves after other work of the process has had its turn. */
  readonly nextTurn: () => Promise<void>;
}

export type ApiRoute = (request: IncomingMessage) => Answer | Promise<Answer>;

function jsonAnswer(status: number, value: unknown): Answer {
  return textAnswer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

/** The answers for programs, by their paths. */
export function createApiRoutes(
  { telemetryPath, shardAddress }: ApiRoutesOptions,
  { status: source, nextTurn }: ApiRoutesDependencies,
): ReadonlyMap<string, ApiRoute> {
  return new Map<string, ApiRoute>([
    [
      '/api/v1/targets',
      async (request) => {
        const query = targetsQueryOf(paramsOf(request));
        if ('problem' in query) {
          return jsonAnswer(400, { status: 'error', errorType: 'bad_data', error: query.problem });
        }
        const body: Buffer[] = [];
        for (const part of targetsJson(source, query)) {
          body.push(Buffer.from(part));
          await nextTurn();
        }
        return compressed(request, { ...textAnswer(200, 'application/json', ''), body });
      },
    ],
    [
      '/api/v1/sd',
      (request) => {
        const { shard } = source.process();
        const { host } = request.headers;
        const context = { host, hasTls: isTls(request), shardAddress, telemetryPath };
        const targets = shardTargets(shard, context);
        return targets.groups === undefined
          ? plainAnswer(targets.status, targets.problem)
          : jsonAnswer(200, targets.groups);
      },
    ],
  ]);
}
