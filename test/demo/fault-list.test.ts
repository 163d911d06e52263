import { describe, expect, it } from 'vitest';
import { faultUsages } from '../../src/cli/simulator-flags.ts';
import { faultsFrom } from '../../src/demo/fault-list.ts';

describe('a list of faults', () => {
  it('may have every fault of the help', () => {
    const examples = faultUsages.replaceAll(/[[\]]/g, '');

    expect(faultsFrom('faults', examples)).toHaveLength(examples.split(',').length);
  });

  it.each([
    { text: '', faults: [] },
    { text: 'fail-app=Checkout', faults: [{ name: 'fail-app', application: 'Checkout' }] },
    { text: 'hang-app=a=b', faults: [{ name: 'hang-app', application: 'a=b' }] },
    { text: 'missing-host', faults: [{ name: 'missing-host', application: undefined }] },
    { text: 'missing-host=shop', faults: [{ name: 'missing-host', application: 'shop' }] },
    { text: 'first-metric', faults: [{ name: 'first-metric', application: undefined }] },
    { text: 'lost-metrics=shop', faults: [{ name: 'lost-metrics', application: 'shop' }] },
    { text: '429-every=5m', faults: [{ name: '429-every', everyMs: 300_000 }] },
    { text: 'html-502', faults: [{ name: 'html-502', everyCalls: 1 }] },
    { text: 'html-502=20%', faults: [{ name: 'html-502', everyCalls: 5 }] },
    { text: 'reset=1%', faults: [{ name: 'reset', everyCalls: 100 }] },
    { text: 'wrong-key=2m', faults: [{ name: 'wrong-key', afterMs: 120_000 }] },
    {
      text: ' slow=5s , wrong-key ',
      faults: [
        { name: 'slow', latencyMs: 5000 },
        { name: 'wrong-key', afterMs: 0 },
      ],
    },
  ])('is read from "$text"', ({ text, faults }) => {
    expect(faultsFrom('faults', text)).toEqual(faults);
  });

  it.each([
    { text: 'fial-app=x', problem: 'unknown fault "fial-app": did you mean "fail-app"?' },
    { text: '429=5m', problem: `unknown fault "429": there are: ${faultUsages}` },
    { text: 'slow=5s,', problem: `unknown fault "": there are: ${faultUsages}` },
    { text: 'fail-app', problem: 'fail-app needs a value: fail-app=APP' },
    {
      text: 'fail-app=',
      problem:
        'fail-app: "" is not valid: expected the name of an application, without a comma, or its id',
    },
    {
      text: '429-every=5',
      problem: '429-every: "5" is not valid: expected a duration from 30s to 24h, such as 5m',
    },
    {
      text: 'slow=1h',
      problem: 'slow: "1h" is not valid: expected a duration from 1ms to 10m, such as 5s',
    },
    {
      text: 'slow=1s,html-502=0.2',
      problem: 'html-502: "0.2" is not valid: expected a share from 1% to 100%, or no value',
    },
    {
      text: 'reset=101%',
      problem: 'reset: "101%" is not valid: expected a share from 1% to 100%, or no value',
    },
    {
      text: 'wrong-key=soon',
      problem:
        'wrong-key: "soon" is not valid: expected a duration up to 24h, such as 2m, or no value',
    },
    {
      text: 'missing-host=',
      problem:
        'missing-host: "" is not valid: expected a part of the name of an application, or no value',
    },
  ])('is refused: "$text"', ({ text, problem }) => {
    expect(() => faultsFrom('faults', text)).toThrow(`--faults: ${problem}`);
  });
});
