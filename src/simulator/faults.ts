import type { Clock } from '../model/clock.ts';
import { commitFault } from './fault-effects.ts';
import { createMatcher, type FaultRule } from './fault-rule.ts';
import type { JournalEntry } from './journal.ts';
import type { Intercept } from './simulator-options.ts';

/** A request that got a fault instead of its answer. */
export interface FaultHit {
  readonly rule: FaultRule;
  readonly request: JournalEntry;
}

/** A script of faults at work. */
export interface Faults {
  /** For the option of this name of the simulator. */
  readonly intercept: Intercept;
  /** The oldest first, of the newest hundred thousand. With a rule, only its own hits. */
  hits(rule?: FaultRule): readonly FaultHit[];
  /** From now on every request gets its normal answer. Requests that hang go on hanging. */
  end(): void;
}

/** As many as the journal keeps: a simulator may run for weeks. */
const mostHits = 100_000;

/**
 * Gives each request the fault of the first rule that is meant for it. Times count from this call.
 * `clock` is the simulator's.
 */
export function createFaults(
  script: readonly FaultRule[],
  dependencies: { readonly clock: Clock },
): Faults {
  const { clock } = dependencies;
  const startMs = clock.monotonicMs();
  const rules = script.map((rule) => ({ rule, isMeant: createMatcher(rule.when ?? {}, startMs) }));
  let hits: FaultHit[] = [];
  let isOver = false;

  return {
    intercept: (request, response) => {
      if (isOver) return 'pass';
      // Every rule sees every request, because each counts its own.
      const meant = rules
        .filter(({ isMeant }) => isMeant(request, response.socket))
        .map(({ rule }) => rule);
      const [rule] = meant;
      if (rule === undefined) return 'pass';
      // Dropping half at a time keeps the cost of one request constant.
      if (hits.length >= 2 * mostHits) hits = hits.slice(-mostHits);
      hits.push({ rule, request });
      return commitFault(rule.fault, request, response, clock);
    },
    hits: (rule) => hits.slice(-mostHits).filter((hit) => rule === undefined || hit.rule === rule),
    end: () => {
      isOver = true;
    },
  };
}
