/** The server of the bench `vendor-call`: a metric answer of usual size over HTTPS. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';

const fixture = (name: string): Buffer =>
  readFileSync(new URL(`../../test/transport/fixtures/${name}`, import.meta.url));

const body = JSON.stringify({
  metric_data: {
    from: '2026-09-01T09:55:00+00:00',
    to: '2026-09-01T10:00:00+00:00',
    metrics_not_found: ['OtherTransaction/all'],
    metrics_found: ['HttpDispatcher'],
    metrics: [
      {
        name: 'HttpDispatcher',
        timeslices: [
          {
            from: '2026-09-01T09:55:00+00:00',
            to: '2026-09-01T10:00:00+00:00',
            values: { requests_per_minute: 54.7 },
          },
        ],
      },
    ],
  },
});

const server = createServer(
  {
    key: fixture('test-only-key.pem'),
    cert: fixture('test-only-certificate.pem'),
  },
  (_request, response) => {
    response.writeHead(200, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(body),
    });
    response.end(body);
  },
);
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
