import type { ServerResponse } from 'node:http';
import type { Clock } from '../model/clock.ts';
import type { Answer } from './answer.ts';
import { type Fault, isWireFault } from './fault.ts';
import { faultAnswer } from './fault-answers.ts';
import { createMatcher, type FaultRule } from './fault-rule.ts';
import { breakOnTheWire } from './fault-wire.ts';
import type { JournalEntry } from './journal.ts';
import { parseQuery } from './query.ts';
import type { Intercept } from './simulator-options.ts';

/** A request that got a fault instead of its answer. */
export interface FaultHit {
  readonly rule: FaultRule;
  readonly request: JournalEntry;
}

/** A script of faults at work. */
export interface Faults {
  /** For the simulator's option of this name. */
  readonly intercept: Intercept;
  /** The oldest first; with a rule, only what that one did. */
  hits(rule?: FaultRule): readonly FaultHit[];
  /** From now on every request gets its answer. What hangs goes on hanging. */
  end(): void;
}

function send(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, { ...headers, 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

function commit(fault: Fault, request: JournalEntry, response: ServerResponse, clock: Clock): void {
  if (isWireFault(fault)) {
    breakOnTheWire(fault, response, clock);
    return;
  }
  const page = Number(parseQuery(request.query).last('page') ?? 1);
  send(response, faultAnswer(fault, { wallMs: clock.wallMs(), page }));
}

/**
 * Gives the requests that a rule means its fault; the first rule that means a request wins. Times
 * count from this call. The clock is the simulator's.
 */
export function createFaults(
  script: readonly FaultRule[],
  dependencies: { readonly clock: Clock },
): Faults {
  const { clock } = dependencies;
  const startMs = clock.monotonicMs();
  const rules = script.map((rule) => ({ rule, isMeant: createMatcher(rule.when ?? {}, startMs) }));
  const hits: FaultHit[] = [];
  let isOver = false;

  return {
    intercept: (request, response) => {
      if (isOver) return 'pass';
      // Every rule sees every request, so that each counts for itself.
      const meant = rules
        .filter(({ isMeant }) => isMeant(request, response.socket))
        .map(({ rule }) => rule);
      const [rule] = meant;
      if (rule === undefined) return 'pass';
      hits.push({ rule, request });
      commit(rule.fault, request, response, clock);
      return 'handled';
    },
    hits: (rule) => hits.filter((hit) => rule === undefined || hit.rule === rule),
    end: () => {
      isOver = true;
    },
  };
}
