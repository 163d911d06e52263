import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import type { Clock } from '../model/clock.ts';
import type { SizeFault, WireFault } from './fault.ts';

const json = { 'Content-Type': 'application/json; charset=utf-8' };
const partOfBody = '{"applications":[{"id":101,"name":"sh';
const announcedBytes = 1000;

function sendPart(response: ServerResponse, then?: () => void): void {
  response.writeHead(200, { ...json, 'Content-Length': announcedBytes });
  response.write(partOfBody, then);
}

function drip(response: ServerResponse, everyMs: number, clock: Clock): void {
  let cancel: (() => void) | undefined;
  const sendByte = (): void => {
    response.write(' ');
    cancel = clock.after(everyMs, sendByte);
  };
  response.once('close', () => {
    cancel?.();
  });
  response.writeHead(200, json);
  sendByte();
}

function sendMuch({ kind, bytes }: SizeFault, response: ServerResponse): void {
  const blanks = Buffer.alloc(bytes, ' ');
  if (kind === 'huge_body') response.writeHead(200, json).end(blanks);
  else if (kind === 'gzip_bomb') {
    response.writeHead(200, { ...json, 'Content-Encoding': 'gzip' }).end(gzipSync(blanks));
  } else {
    response.writeHead(200, { ...json, 'X-Padding': 'x'.repeat(bytes) }).end('{}');
  }
}

/** Breaks the answer on the way. */
export function breakOnTheWire(fault: WireFault, response: ServerResponse, clock: Clock): void {
  const { socket } = response;
  if ('bytes' in fault) {
    sendMuch(fault, response);
    return;
  }
  switch (fault.kind) {
    case 'silence':
      return;
    case 'stall':
      sendPart(response);
      return;
    case 'drip':
      drip(response, fault.everyMs, clock);
      return;
    case 'reset':
      socket?.resetAndDestroy();
      return;
    case 'reset_in_body':
      sendPart(response, () => socket?.resetAndDestroy());
      return;
    case 'close':
    case 'short_body':
    case 'garbage':
      closeInOrder(fault.kind, response);
  }
}

function closeInOrder(kind: 'close' | 'short_body' | 'garbage', response: ServerResponse): void {
  const { socket } = response;
  if (kind === 'close') socket?.end();
  else if (kind === 'garbage') socket?.end('SSH-2.0-OpenSSH_9.2\r\n');
  else sendPart(response, () => socket?.end());
}
