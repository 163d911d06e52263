import type { Clock } from '../../src/model/clock.ts';
import type { FaultRule } from '../../src/simulator/fault-rule.ts';
import { createFaults } from '../../src/simulator/faults.ts';
import { createSimulator, type Simulator } from '../../src/simulator/simulator.ts';
import type { Intercept } from '../../src/simulator/simulator-options.ts';
import type { SituationAccount, Trouble } from './situations.ts';

export const apiKey = 'NRAK-SITUATIONS';

export interface SituationVendor {
  readonly simulator: Simulator;
  /** From now on it does what the account is there for. */
  misbehave(): void;
}

/** Half of the calls, and always those of the same applications: what is shown does not depend on chance. */
function callsOfEverySecond({ applications }: SituationAccount): readonly FaultRule[] {
  return applications
    .filter((_, index) => index % 2 === 1)
    .flatMap(({ id }) =>
      (['application_metrics', 'host_metrics'] as const).map((endpoint) => ({
        when: { endpoints: [endpoint], applicationId: String(id) },
        fault: { kind: 'status', status: 503 } as const,
      })),
    );
}

function faultsOf(account: SituationAccount): readonly FaultRule[] {
  const rules: Readonly<Record<Trouble, readonly FaultRule[]>> = {
    none: [],
    'refuses the key': [{ fault: { kind: 'status', status: 401 } }],
    'fails half of the calls': callsOfEverySecond(account),
    throttles: [
      {
        fault: { kind: 'throttled', hints: [{ header: 'X-RateLimit-Reset', inSeconds: 60 }] },
      },
    ],
  };
  return rules[account.trouble];
}

/** New Relic with one account, which behaves well at first. */
export function createVendor(
  account: SituationAccount,
  dependencies: { readonly clock: Clock },
): SituationVendor {
  const late: { intercept: Intercept } = { intercept: () => 'pass' };
  const simulator = createSimulator(
    {
      apiKeys: [apiKey],
      latencyMs: [50, 250],
      journalLimit: 100,
      fleet: { traffic: 'flat', applications: account.applications },
      intercept: (request, response) => late.intercept(request, response),
    },
    dependencies,
  );
  return {
    simulator,
    misbehave: () => {
      late.intercept = createFaults(faultsOf(account), dependencies).intercept;
    },
  };
}
