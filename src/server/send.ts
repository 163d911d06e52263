import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http';

const securityHeaders: OutgoingHttpHeaders = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
};

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  /** Sent one after the other, without copying them. */
  readonly body: readonly Buffer[];
}

/** A short answer of text. */
export function textAnswer(
  status: number,
  contentType: string,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Answer {
  return {
    status,
    headers: { 'Content-Type': contentType, 'Cache-Control': 'no-store', ...headers },
    body: [Buffer.from(text)],
  };
}

/** A short answer for people and logs; ends in a newline. */
export function plainAnswer(
  status: number,
  text: string,
  headers: OutgoingHttpHeaders = {},
): Answer {
  return textAnswer(status, 'text/plain; charset=utf-8', `${text}\n`, headers);
}

/** Sends the answer; to a HEAD request its headers alone. */
export function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const length = answer.body.reduce((sum, part) => sum + part.length, 0);
  response.writeHead(answer.status, {
    ...securityHeaders,
    ...answer.headers,
    'Content-Length': length,
  });
  if (request.method === 'HEAD' || length === 0) {
    response.end();
    return;
  }
  // A response that was ended counts as done, and its connection as idle, although its bytes may
  // still wait for a slow client: a server that closes would cut it off. So it ends only when the
  // last byte has left.
  const parts = answer.body.filter((part) => part.length > 0);
  for (const [index, part] of parts.entries()) {
    if (index < parts.length - 1) response.write(part);
    else response.write(part, () => response.end());
  }
}
