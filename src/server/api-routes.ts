import type { IncomingMessage } from 'node:http';
import type { StatusSource } from '../model/status.ts';
import { shardTargets } from '../status/shard-targets.ts';
import { targetsJson, targetsQueryOf } from '../status/targets-json.ts';
import { type Answer, plainAnswer, textAnswer } from './answer.ts';
import { compressed } from './compressed.ts';
import { isTls, paramsOf } from './request-parts.ts';

export interface ApiRoutesOptions {
  /** The path of the metrics, such as `/metrics`. */
  readonly telemetryPath: string;
  /** Addresses of the shards, with `{shard}` for the number; empty if they are not known. */
  readonly shardAddress: string;
}

export type ApiRoute = (request: IncomingMessage) => Answer | Promise<Answer>;

function jsonAnswer(status: number, value: unknown): Answer {
  return textAnswer(status, 'application/json', `${JSON.stringify(value)}\n`);
}

/** The answers for programs, by their paths. */
export function createApiRoutes(
  { telemetryPath, shardAddress }: ApiRoutesOptions,
  source: StatusSource,
): ReadonlyMap<string, ApiRoute> {
  return new Map<string, ApiRoute>([
    [
      '/api/v1/targets',
      async (request) => {
        const query = targetsQueryOf(paramsOf(request));
        if (!('problem' in query))
          return compressed(request, jsonAnswer(200, targetsJson(source, query)));
        return jsonAnswer(400, { status: 'error', errorType: 'bad_data', error: query.problem });
      },
    ],
    [
      '/api/v1/sd',
      (request) => {
        const { shard } = source.process();
        const asked = { host: request.headers.host, isTls: isTls(request) };
        const targets = shardTargets({ shard, shardAddress, telemetryPath }, asked);
        return targets.groups === undefined
          ? plainAnswer(targets.status, targets.problem)
          : jsonAnswer(200, targets.groups);
      },
    ],
  ]);
}
