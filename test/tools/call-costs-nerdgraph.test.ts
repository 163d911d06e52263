import { describe, expect, it } from 'vitest';
import { nerdGraphPlanCosts } from '../../src/tools/call-costs.ts';
import { aSelected } from '../support/builders.ts';

describe('what NerdGraph costs beside polls', () => {
  it.each([
    { applications: 0, calls: 1 },
    { applications: 200, calls: 1 },
    { applications: 201, calls: 2 },
  ])(
    'is $calls pages for a discovery of $applications applications, and nothing once',
    ({ applications, calls }) => {
      const all = Array.from({ length: applications }, (_, index) =>
        aSelected({ id: `${index + 1}` }),
      );

      expect(nerdGraphPlanCosts.discovery(all)).toEqual({ calls });
      expect(nerdGraphPlanCosts.once(all)).toBe(0);
    },
  );
});
