import { describe, expect, it } from 'vitest';
import { newAppState } from '../../src/poll/app-state.ts';
import { isStillAsked, requestOf } from '../../src/poll/poll-request.ts';
import { newQueryState } from '../../src/poll/query-state.ts';
import { idOf, type State, States } from '../../src/poll/states.ts';
import { aQuery, aSelected } from '../support/builders.ts';
import { createFakeClock } from '../support/fake-clock.ts';

const app = newAppState(aSelected({ id: '1' }), 0, 0);
const query = newQueryState(aQuery, 0, 0);
const appWith = (entry: Parameters<typeof aSelected>[1]): State =>
  newAppState(aSelected({ id: '1' }, entry), 0, 0);

describe('what a poll asks for is still asked', () => {
  it.each<{
    readonly what: string;
    readonly before: State;
    readonly after: State | undefined;
    readonly still: boolean;
  }>([
    {
      what: 'if an application has other labels',
      before: app,
      after: appWith({ labels: { a: 'b' } }),
      still: true,
    },
    {
      what: 'not of another delay',
      before: app,
      after: appWith({ poll: { delayMs: 1 } }),
      still: false,
    },
    { what: 'not of an application that is gone', before: app, after: undefined, still: false },
    {
      what: 'if a query has another interval',
      before: query,
      after: newQueryState({ ...aQuery, poll: { ...aQuery.poll, intervalMs: 1000 } }, 0, 0),
      still: true,
    },
    {
      what: 'not of another NRQL',
      before: query,
      after: newQueryState({ ...aQuery, nrql: 'SELECT 1 FROM Log' }, 0, 0),
      still: false,
    },
    { what: 'not of a query that is taken out', before: query, after: undefined, still: false },
  ])('$what', ({ before, after, still }) => {
    const states = new States(createFakeClock());
    states.set(before);
    const request = requestOf(idOf(before), states, 0);
    states.delete(idOf(before));
    if (after !== undefined) states.set(after);

    expect(request && isStillAsked(request, states)).toBe(still);
  });
});
