import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { plainAnswer } from '../../src/web/answer.ts';
import { createOneAtATime, type Route } from '../../src/web/request-handler.ts';

/** Sends a request straight to the route. */
async function ask(route: Route, socket = new Socket()): Promise<number> {
  const request = new IncomingMessage(socket);
  const { status } = await route(request, new ServerResponse(request));
  return status;
}

describe('createOneAtATime', () => {
  it('lets other work have its turn before each answer, and begins none before the last has ended', async () => {
    const events: string[] = [];
    const note = (event: string) => async () => {
      events.push(event);
      await Promise.resolve();
    };
    const oneAtATime = createOneAtATime({ nextTurn: note('turn') });
    const page = oneAtATime(async () => {
      await note('page begins')();
      await note('page ends')();
      return plainAnswer(200, 'page');
    });
    const json = oneAtATime(() => {
      events.push('json');
      return plainAnswer(200, 'json');
    });

    await Promise.all([ask(page), ask(json), ask(page)]);

    const aPage = ['turn', 'page begins', 'page ends'];
    expect(events).toEqual([...aPage, 'turn', 'json', ...aPage]);
  });

  it('answers nobody who has gone while others were answered', async () => {
    let answered = 0;
    const oneAtATime = createOneAtATime({ nextTurn: async () => {} });
    const route = oneAtATime(() => {
      answered += 1;
      return plainAnswer(200, 'page');
    });

    expect(await ask(route, new Socket().destroy())).toBe(503);
    expect(answered).toBe(0);
  });
});
