/**
 * Serves the gauges of a page with prom-client, as most exporters in JavaScript have them. Argument: the
 * file with the page. Sends its port. One value changes before each scrape.
 */
import { readFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Gauge, Registry } from 'prom-client';
import { parseExposition } from '../test/support/exposition-parser.ts';

const registry = new Registry();
let change = (): void => undefined;
for (const { name, help = '', samples } of parseExposition(readFileSync(process.argv[2] ?? ''))) {
  const labelNames = (samples[0]?.labels ?? []).map(([label]) => label);
  const gauge = new Gauge({ name, help, labelNames, registers: [registry] });
  for (const { labels, value } of samples) gauge.set(Object.fromEntries(labels), value);
  const first = Object.fromEntries(samples[0]?.labels ?? []);
  change = () => {
    gauge.inc(first);
  };
}

const compress = promisify(gzip);
async function answer(response: ServerResponse): Promise<void> {
  change();
  const body = await compress(await registry.metrics());
  response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': registry.contentType });
  response.end(body);
}

const server = createServer((_request, response) => {
  void answer(response);
});
server.listen(0, '127.0.0.1', () => {
  process.send?.((server.address() as AddressInfo).port);
});
process.on('disconnect', () => {
  process.exit(0);
});
