import type { ApiResponse } from '../../src/newrelic/calls/transport.ts';
import { applicationListText } from '../support/vendor-documents.ts';
import type { Hint, ListTrouble, NamesTrouble, Scope, TroubleKind } from './account-steps.ts';
import type { WireCall } from './vendor-wire.ts';

/** What happens to one call. */
export type Fault =
  | TroubleKind
  | { readonly kind: 'throttled'; readonly hint: Hint }
  | { readonly kind: 'revoked' }
  | { readonly kind: 'list'; readonly fault: ListTrouble }
  | { readonly kind: 'names'; readonly fault: NamesTrouble };

interface ScopedTrouble {
  readonly scope: Scope;
  readonly trouble: TroubleKind;
  readonly untilMs: number;
}

interface Refusals {
  readonly hint: Hint;
  readonly untilMs: number;
  calls: number;
}

/** What goes wrong at the vendor at present. */
export class Troubles {
  readonly #nowMs: () => number;
  readonly #applicationIds: () => readonly string[];
  #scoped: readonly ScopedTrouble[] = [];
  #list: { readonly fault: ListTrouble; readonly untilMs: number } | undefined;
  #names: { readonly fault: NamesTrouble; readonly untilMs: number } | undefined;
  readonly #refusals = new Map<string, Refusals>();
  readonly #revoked = new Set<string>();
  #wasHit = false;

  constructor(dependencies: {
    readonly nowMs: () => number;
    /** To choose from by index. */
    readonly applicationIds: () => readonly string[];
  }) {
    this.#nowMs = dependencies.nowMs;
    this.#applicationIds = dependencies.applicationIds;
  }

  add(trouble: TroubleKind, scope: Scope, lastingMs: number): void {
    // What is meant stays meant, whatever comes and goes.
    const chosen =
      scope.of === 'application'
        ? ({ of: 'application', index: Number(this.#applicationAt(scope.index)) } as const)
        : scope;
    const untilMs = this.#nowMs() + lastingMs;
    this.#scoped = [
      ...this.#scoped.filter((one) => !this.#isOver(one)),
      { scope: chosen, trouble, untilMs },
    ];
  }

  breakLists(fault: ListTrouble, lastingMs: number): void {
    this.#list = { fault, untilMs: this.#nowMs() + lastingMs };
  }

  breakNames(fault: NamesTrouble, lastingMs: number): void {
    this.#names = { fault, untilMs: this.#nowMs() + lastingMs };
  }

  refuse(
    key: string,
    hint: Hint,
    calls: number,
    lastingMs: number = Number.POSITIVE_INFINITY,
  ): void {
    this.#refusals.set(key, { hint, calls, untilMs: this.#nowMs() + lastingMs });
  }

  revoke(key: string): void {
    this.#revoked.add(key);
  }

  reinstate(key: string): void {
    this.#revoked.delete(key);
  }

  clear(): void {
    this.#scoped = [];
    this.#list = undefined;
    this.#names = undefined;
    this.#refusals.clear();
    this.#revoked.clear();
  }

  /** How much slower every answer is, if that is all that is wrong. */
  slownessMs(): number | undefined {
    const scoped = this.#scoped.filter((one) => !this.#isOver(one));
    const [one, ...others] = scoped;
    const isElse =
      others.length > 0 ||
      (this.#list !== undefined && !this.#isOver(this.#list)) ||
      (this.#names !== undefined && !this.#isOver(this.#names)) ||
      [...this.#refusals.values()].some(
        ({ calls, untilMs }) => calls > 0 && !this.#isOver({ untilMs }),
      );
    return !isElse && one?.scope.of === 'everything' && one.trouble.kind === 'slow'
      ? one.trouble.ms
      : undefined;
  }

  /** Whether anything goes wrong now, or may with the next call. */
  isAny(): boolean {
    return (
      this.#scoped.some((one) => !this.#isOver(one)) ||
      (this.#list !== undefined && !this.#isOver(this.#list)) ||
      (this.#names !== undefined && !this.#isOver(this.#names)) ||
      [...this.#refusals.values()].some((one) => one.calls > 0 && !this.#isOver(one))
    );
  }

  /** Whether a call had a fault since this was last asked. */
  wasHit(): boolean {
    const wasHit = this.#wasHit;
    this.#wasHit = false;
    return wasHit;
  }

  faultOf(call: WireCall): Fault | undefined {
    const fault = this.#faultOf(call);
    this.#wasHit ||= fault !== undefined;
    return fault;
  }

  #faultOf(call: WireCall): Fault | undefined {
    if (this.#revoked.has(call.key)) return { kind: 'revoked' };
    const refusals = this.#refusals.get(call.key);
    if (refusals !== undefined && refusals.calls > 0 && !this.#isOver(refusals)) {
      refusals.calls -= 1;
      return { kind: 'throttled', hint: refusals.hint };
    }
    return this.#listFaultOf(call) ?? this.#scopedFaultOf(call);
  }

  #listFaultOf(call: WireCall): Fault | undefined {
    const isList = call.operation === 'list_applications' && call.ids.length === 0;
    if (isList && this.#list !== undefined && !this.#isOver(this.#list)) {
      return { kind: 'list', fault: this.#list.fault };
    }
    if (
      call.operation === 'list_hosts' &&
      this.#names !== undefined &&
      !this.#isOver(this.#names)
    ) {
      return { kind: 'names', fault: this.#names.fault };
    }
    return undefined;
  }

  #scopedFaultOf(call: WireCall): Fault | undefined {
    return this.#scoped.find((one) => !this.#isOver(one) && isMeant(one, call))?.trouble;
  }

  #isOver({ untilMs }: { readonly untilMs: number }): boolean {
    return this.#nowMs() >= untilMs;
  }

  #applicationAt(index: number): string {
    const ids = this.#applicationIds();
    return ids[index % Math.max(1, ids.length)] ?? '';
  }
}

function isMeant(
  { scope, trouble }: ScopedTrouble,
  { operation, metric, shard }: WireCall,
): boolean {
  if (trouble.kind === 'other_window' && metric === undefined) return false;
  switch (scope.of) {
    case 'everything':
      return true;
    case 'lists':
      return operation.startsWith('list_') && isOfShard(scope, shard);
    case 'names':
      return operation === 'list_hosts';
    case 'application':
      return metric !== undefined && Number(metric.applicationId) === scope.index;
    case 'some':
      return metric !== undefined && lotOf(metric.hostId || metric.applicationId) < scope.percent;
  }
}

function isOfShard({ shard }: Extract<Scope, { of: 'lists' }>, sender: number): boolean {
  return shard === undefined || shard === sender;
}

/** From 0 to 99, always the same one for an id. */
function lotOf(id: string): number {
  return (Math.imul(Number(id), 0x9e3779b1) >>> 8) % 100;
}

const json = { 'content-type': 'application/json; charset=utf-8' };

interface FaultMoment {
  readonly ask: (target: string) => Promise<ApiResponse>;
  readonly dateMs: number;
}

/** An answer that says something else than the vendor would. An error may repeat the key. */
export async function faultAnswerOf(
  fault: Exclude<Fault, { kind: 'hang' | 'reset' | 'slow' | 'other_window' }>,
  call: WireCall,
  { ask, dateMs }: FaultMoment,
): Promise<ApiResponse> {
  switch (fault.kind) {
    case 'throttled':
      return { status: 429, headers: { ...json, ...hintHeaders(fault.hint, dateMs) }, body: '{}' };
    case 'revoked':
      return errorAnswer(401, `The API key ${call.key} is invalid`);
    case 'status':
      return errorAnswer(fault.status, `Not now, ${call.key}`);
    case 'list':
      return brokenList(fault.fault, call, ask);
    case 'names':
      return brokenNames(fault.fault, call, ask);
  }
}

function errorAnswer(status: number, title: string): ApiResponse {
  return { status, headers: json, body: JSON.stringify({ error: { title } }) };
}

function hintHeaders(hint: Hint, dateMs: number): Readonly<Record<string, string>> {
  if (hint.says === 'nothing') return {};
  if (hint.says === 'retry_after') return { 'retry-after': `${hint.seconds}` };
  return { 'x-ratelimit-reset': `${Math.floor(dateMs / 1000) + hint.seconds}` };
}

async function brokenList(
  fault: ListTrouble,
  { target, page }: WireCall,
  ask: FaultMoment['ask'],
): Promise<ApiResponse> {
  const real = await ask(target);
  switch (fault) {
    case 'empty':
      return { ...real, headers: json, body: applicationListText([]) };
    case 'next_without_page':
      return { ...real, headers: { ...json, link: '<https://api.newrelic.com/?x=1>; rel="next"' } };
    case 'leads_back':
      return {
        ...real,
        headers: { ...json, link: `<https://api.newrelic.com/?page=${page}>; rel="next"` },
      };
    case 'second_page_fails':
      return page === 1
        ? { ...real, headers: { ...json, link: '<https://api.newrelic.com/?page=2>; rel="next"' } }
        : errorAnswer(500, 'This page is broken');
    case 'cut_short':
      return { ...real, headers: json, body: real.body.slice(0, real.body.length / 2) };
  }
}

async function brokenNames(
  fault: NamesTrouble,
  call: WireCall,
  ask: FaultMoment['ask'],
): Promise<ApiResponse> {
  switch (fault) {
    case 'left_out': {
      const real = await ask(call.target);
      return real.status === 200 ? { ...real, body: withoutSome(real.body) } : real;
    }
    case 'filter_ignored': {
      const [path = '', text = ''] = call.target.split('?');
      const query = new URLSearchParams(text);
      query.delete('filter[hostname]');
      return ask(`${path}?${query.toString()}`);
    }
    case 'second_page_fails':
    case 'cut_short':
      return brokenList(fault, call, ask);
  }
}

function withoutSome(body: string): string {
  const { application_hosts: hosts, ...rest } = JSON.parse(body) as {
    readonly application_hosts: readonly { readonly id: number }[];
  };
  const listed = hosts.filter(({ id }) => lotOf(`${id}`) < 50);
  return JSON.stringify({ ...rest, application_hosts: listed });
}
