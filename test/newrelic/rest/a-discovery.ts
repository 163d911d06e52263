import { expect } from 'vitest';
import type { Selector } from '../../../src/model/config.ts';
import type { Discovery } from '../../../src/model/source.ts';
import type { ApiResponse } from '../../../src/newrelic/calls/transport.ts';
import {
  answerOf,
  createFakeTransport,
  type ScriptedAnswer,
} from '../../support/fake-transport.ts';
import { aRestSource } from './a-rest-source.ts';

/** Target of the list of applications. */
export const list: string = '/v2/applications.json';
export const byName: Selector = { kind: 'name', name: 'app 1' };

export function byIds(...ids: readonly string[]): Selector[] {
  return ids.map((id) => ({ kind: 'id', id }));
}

export function appsOf(ids: readonly string[], headers: ApiResponse['headers'] = {}): ApiResponse {
  const applications = ids.map((id) => ({ id: Number(id), name: `app ${id}` }));
  return answerOf({ applications }, { headers });
}

/** Target of the list of some applications, percent-decoded. */
export function filtered(...ids: readonly string[]): string {
  return `${list}?filter[ids]=${ids.join(',')}`;
}

/**
 * Runs one discovery by a script. Expects that the whole script was used and every call counted.
 */
export async function discover(
  selectors: readonly Selector[],
  script: Readonly<Record<string, ScriptedAnswer | readonly ScriptedAnswer[]>>,
  knownIds: readonly string[] = [],
): Promise<Discovery & { readonly ids: string[]; readonly asked: string[] }> {
  const transport = createFakeTransport(script);
  const { source, signal } = aRestSource(transport.send);

  const discovery = await source.discover({ selectors }, knownIds, signal);

  expect(transport.unused()).toEqual([]);
  expect(discovery.calls).toBe(transport.calls.length);
  const ids = discovery.applications.map(({ id }) => id);
  return { ...discovery, ids, asked: transport.targets() };
}

export const noKey: ApiResponse = answerOf(
  { error: { title: 'No API key specified' } },
  { status: 401 },
);
export const serverError: ApiResponse = answerOf('', { status: 500 });
export const nextPage: ApiResponse['headers'] = {
  link: '<https://api.newrelic.com/v2/applications.json?page=2>; rel="next"',
};
