import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ApiRequest, ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { AccountPoller } from '../../src/poll/account-poller.ts';
import { accountCalls } from '../newrelic/calls/call-fakes.ts';
import { aRestSource } from '../newrelic/rest/a-rest-source.ts';
import { aStore } from '../publish/builders.ts';
import { aContext } from '../support/a-context.ts';
import { anAccount, anEntry } from '../support/builders.ts';
import { parseExposition } from '../support/exposition-parser.ts';
import { createFakeClock, settle } from '../support/fake-clock.ts';
import { slow } from '../support/slow.ts';

/** Any text: all of Unicode, lone surrogates, controls, and what means something in an exposition. */
const aText = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.constantFrom('', '"', '\\', '\n', 'a"b\\c\nd', '{}', '# EOF', '__proto__', '\u202e', '\u0000'),
);
const anId = fc.oneof(
  fc.integer({ min: 1, max: 20 }),
  fc.constantFrom('9007199254740993', 9_007_199_254_740_993n.toString(), '007', '-1', 1.5, null),
);
const aValue = fc.oneof(fc.double(), fc.nat(), aText, fc.constantFrom(null, true, [], {}));
const listOf = (item: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 6, arbitrary: fc.array(item, { maxLength: 6 }) },
    fc.constantFrom(null, {}, 'x'),
  );

const anApplicationDocument = fc.record(
  {
    id: anId,
    name: fc.oneof({ weight: 6, arbitrary: aText }, fc.constantFrom(null, 7)),
    language: aText,
    health_status: fc.oneof(aText, fc.constantFrom('green', 'red')),
    reporting: fc.oneof(fc.boolean(), aText),
    last_reported_at: fc.oneof(aText, fc.constant('2026-09-01T10:00:00+00:00')),
    application_summary: fc.record(
      { response_time: aValue, throughput: aValue, error_rate: aValue, apdex_score: aValue },
      { requiredKeys: [] },
    ),
    links: fc.record(
      { application_hosts: listOf(anId), application_instances: listOf(anId) },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['id', 'name'] },
);

const aMetric = fc.record({
  name: fc.oneof(fc.constantFrom('HttpDispatcher', 'OtherTransaction/all'), aText),
  timeslices: fc.array(
    fc.record({
      to: aText,
      values: fc.record({ requests_per_minute: aValue }, { requiredKeys: [] }),
    }),
    { maxLength: 2 },
  ),
});

/** The vendor's documents with anything in their places, or bytes that are no document at all. */
const aVendor = fc.record({
  applications: fc.oneof(
    {
      weight: 8,
      arbitrary: listOf(anApplicationDocument).map((applications) => ({ applications })),
    },
    fc.jsonValue(),
  ),
  hosts: listOf(fc.record({ id: anId, host: aText })).map((list) => ({ application_hosts: list })),
  metrics: fc.array(
    fc.oneof(
      listOf(aMetric).map((metrics) => ({ metric_data: { metrics } })),
      fc.jsonValue(),
    ),
    { minLength: 1, maxLength: 4 },
  ),
  garbage: fc.oneof(
    { weight: 4, arbitrary: fc.constant(undefined) },
    fc.string({ unit: 'binary' }),
  ),
  status: fc.oneof({ weight: 8, arbitrary: fc.constant(200) }, fc.constantFrom(204, 404, 422, 500)),
});
type Vendor = typeof aVendor extends fc.Arbitrary<infer Value> ? Value : never;

/** JSON.stringify keeps a lone surrogate as an escape, and Infinity can only be written by hand. */
function bodyOf(document: unknown): string {
  const marked = JSON.stringify(document, (_key, value: unknown) =>
    typeof value === 'number' && !Number.isFinite(value) ? '<huge>' : value,
  );
  return marked.replaceAll('"<huge>"', '1e999');
}

function vendorTransport(vendor: Vendor): (request: ApiRequest) => Promise<ApiResponse> {
  let metricCalls = 0;
  return async ({ operation }) => {
    if (operation === 'list_applications') {
      return { status: 200, headers: {}, body: bodyOf(vendor.applications) };
    }
    if (vendor.garbage !== undefined) return { status: 200, headers: {}, body: vendor.garbage };
    if (operation === 'list_hosts') {
      return { status: vendor.status, headers: {}, body: bodyOf(vendor.hosts) };
    }
    metricCalls += 1;
    const document = vendor.metrics[metricCalls % vendor.metrics.length];
    return { status: vendor.status, headers: {}, body: bodyOf(document) };
  };
}

/** Far more than a poll takes that ends. */
const mostTurns = 100;

/** What the promise gives; fails, and does not wait for ever, if it has not settled after so many turns. */
async function withinTurns<Value>(promise: Promise<Value>): Promise<Value> {
  const state = { isSettled: false };
  const settled = promise.finally(() => {
    state.isSettled = true;
  });
  for (let turn = 0; !state.isSettled && turn < mostTurns; turn += 1) await settle();
  return state.isSettled ? settled : Promise.reject(new Error('the poll does not end'));
}

describe('5.2 whatever the vendor sends', () => {
  it(
    'ends in a valid exposition of finite values, without a duplicate family or series',
    slow,
    async () => {
      let seriesSeen = 0;
      await fc.assert(
        fc.asyncProperty(aVendor, async (vendor) => {
          const { source } = aRestSource(vendorTransport(vendor));
          const store = aStore();
          const clock = createFakeClock();
          const poller = new AccountPoller(
            { account: anAccount(), entries: [anEntry({ poll: { hostNames: true } })] },
            aContext({
              source,
              clock,
              sink: store,
              calls: accountCalls(clock, { requestsPerMinute: 800, concurrency: 8 }),
            }),
          );

          await withinTurns(poller.runOnce(new AbortController().signal));
          const families = parseExposition(Buffer.concat((await store.page()).identity));

          const values = families.flatMap(({ samples }) => samples.map(({ value }) => value));
          expect(values.every((value) => Number.isFinite(value) && value >= 0)).toBe(true);
          seriesSeen += values.length;
        }),
        { numRuns: 300 },
      );

      expect(seriesSeen).toBeGreaterThan(1000);
    },
  );
});
