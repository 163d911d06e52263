import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import { readBody } from '../../src/simulator/request-body.ts';

describe('readBody', () => {
  it.each([
    { chunks: ['{"a"', ':1}'], body: '{"a":1}' },
    { chunks: [], body: '' },
    { chunks: ['x'.repeat(10)], body: 'x'.repeat(10) },
    { chunks: ['x'.repeat(10), 'x'], body: undefined },
    { chunks: ['x'.repeat(11), 'y'], body: undefined },
  ])('gives $body of the chunks $chunks', ({ chunks, body }) => {
    const incoming = new EventEmitter();
    const bodies: (string | undefined)[] = [];

    readBody(incoming as never, 10, (text) => bodies.push(text));
    for (const chunk of chunks) incoming.emit('data', Buffer.from(chunk));
    expect(bodies).toEqual([]);
    incoming.emit('end');

    expect(bodies).toEqual([body]);
  });

  it('puts a character together that came in two chunks', () => {
    const incoming = new EventEmitter();
    const bodies: (string | undefined)[] = [];
    const bytes = Buffer.from('é');

    readBody(incoming as never, 10, (text) => bodies.push(text));
    incoming.emit('data', bytes.subarray(0, 1));
    incoming.emit('data', bytes.subarray(1));
    incoming.emit('end');

    expect(bodies).toEqual(['é']);
  });
});
