import { describe, expect, it } from 'vitest';
import { withDates } from '../../src/tools/clock-check.ts';
import { createFakePlatform } from '../support/fake-platform.ts';

/** The finding after answers with these dates, each the milliseconds that the vendor is ahead of us. */
async function findingAfter(
  answers: readonly { readonly aheadMs?: number; readonly takesMs: number }[],
): Promise<string | undefined> {
  const left = [...answers];
  const platform = createFakePlatform({
    openTransport: async () => ({
      send: async () => {
        const { aheadMs, takesMs } = left.shift() ?? { takesMs: 0 };
        const middleMs = platform.clock.wallMs() + takesMs / 2;
        await platform.clock.advance(takesMs);
        const date = aheadMs === undefined ? undefined : new Date(middleMs + aheadMs).toUTCString();
        return { status: 200, headers: date === undefined ? {} : { date }, body: '' };
      },
      close: async () => undefined,
    }),
  });
  const dated = withDates(platform);
  const options = {
    baseUrl: '',
    connections: 1,
    proxyUrl: undefined,
    ca: undefined,
    userAgent: '',
  };
  const transport = await dated.platform.openTransport(options);
  const request = { operation: 'list_applications', target: '/' } as const;
  for (const _ of answers) await transport.send(request, {}, new AbortController().signal);
  await transport.close();
  const finding = dated.finding();
  return finding === undefined ? undefined : `${finding.severity}: ${finding.message}`;
}

describe('withDates', () => {
  const agrees = "ok: the clock of this machine agrees with New Relic's";
  it.each([
    { what: 'no answer', answers: [], text: undefined },
    { what: 'an answer without a date', answers: [{ takesMs: 10 }], text: undefined },
    { what: 'the same time', answers: [{ aheadMs: 0, takesMs: 1000 }], text: agrees },
    { what: 'half a minute', answers: [{ aheadMs: -29_000, takesMs: 0 }], text: agrees },
    {
      what: 'a clock that is slow',
      answers: [{ aheadMs: 300_000, takesMs: 0 }],
      text: "warning: the clock of this machine is 300 s behind New Relic's",
    },
    {
      what: 'a clock that is fast',
      answers: [{ aheadMs: -120_000, takesMs: 0 }],
      text: "warning: the clock of this machine is 120 s ahead of New Relic's",
    },
    {
      what: 'the fastest of several answers',
      answers: [
        { aheadMs: 90_000, takesMs: 40_000 },
        { aheadMs: 0, takesMs: 2000 },
        { aheadMs: 90_000, takesMs: 5000 },
      ],
      text: agrees,
    },
  ])('tells the difference by $what', async ({ answers, text }) => {
    expect(await findingAfter(answers)).toBe(text);
  });
});
