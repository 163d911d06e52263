import type { Clock } from '../../model/clock.ts';
import type { Values } from '../../model/polled-series.ts';
import {
  choosesHost,
  hostChoiceOf,
  hostChoiceText,
  hostSelectorOf,
  type SelectedApplication,
  wantsHostNames,
  withNamedHosts,
} from '../../model/selected-application.ts';
import type { HostNames } from '../../model/source.ts';
import type { Logger } from '../../model/telemetry.ts';

/** What is known about the host names of one application. */
interface KnownNames {
  readonly names: ReadonlyMap<string, string>;
  readonly askedFor: ReadonlySet<string>;
  /** When to ask again even if no new host appears, because a name is missing. */
  readonly askAgainMs: number | undefined;
  /** Answers in a row that left a host without a name. */
  readonly incompleteAnswers: number;
  /** What had calls in the last poll that brought anything. */
  readonly busy: ReadonlySet<string>;
  /** Which hosts were chosen then: another choice may need names that were not asked for. */
  readonly choice: string;
}

const noNames = {
  names: new Map<string, string>(),
  askedFor: new Set<string>(),
  askAgainMs: undefined,
  incompleteAnswers: 0,
  busy: new Set<string>(),
};

const waitAfterFailureMs = 10 * 60_000;
/**
 * A new host appears in the vendor's list some minutes after its start. A little less than a minute, so that
 * the next poll asks.
 */
const firstWaitMs = 50_000;
/** Some hosts never get a name, and that of this process may have another one there. */
const longestWaitMs = 3_600_000;

const hostNamesRemedy =
  'hosts are shown by their id until it works; host_names: false switches it off';
/** Characters of a name in the log. */
const longestHostName = 256;

/**
 * The names of the hosts of an account's applications: in the REST API only a list of their own has them. They
 * are asked for when a host appears whose name was never asked for, and again where one is missing.
 */
export class KnownHosts {
  readonly #account: string;
  readonly #context: { readonly clock: Clock; readonly logger: Logger };
  readonly #known = new Map<string, KnownNames>();
  #areFailing = false;

  /** @param account its name in the log */
  constructor(account: string, context: { readonly clock: Clock; readonly logger: Logger }) {
    this.#account = account;
    this.#context = context;
  }

  /** As far as they are known; none if the entry does not want them. */
  namesOf(selected: SelectedApplication): ReadonlyMap<string, string> {
    return wantsHostNames(selected.entry) ? this.#of(selected).names : new Map();
  }

  /** Whether a poll asks for names. */
  shouldAsk(selected: SelectedApplication): boolean {
    if (!wantsHostNames(selected.entry)) return false;
    const { askedFor, askAgainMs, names, busy } = this.#of(selected);
    if (askAgainMs !== undefined && this.#context.clock.monotonicMs() >= askAgainMs) return true;
    if (hostSelectorOf(selected)?.kind === 'self') {
      const { namedHostIds = [] } = withNamedHosts(selected, names);
      if (namedHostIds.length === 0 && askAgainMs === undefined) return true;
      // Other hosts come and go. A known host that has calls is the right one.
      if (namedHostIds.some((id) => busy.has(id))) return false;
    }
    return (hostsToName(selected) ?? []).some((id) => !askedFor.has(id));
  }

  /** Notes what a look-up has brought: a name that is known stays, whatever it leaves out. */
  found(selected: SelectedApplication, { names: arrived, error }: HostNames): void {
    const known = this.#of(selected);
    const askedFor = new Set(hostsToName(selected) ?? [...known.names.keys(), ...arrived.keys()]);
    const names = [...askedFor].flatMap((id): [string, string][] => {
      const name = arrived.get(id) ?? known.names.get(id);
      return name === undefined ? [] : [[id, name]];
    });
    const next = { ...known, names: new Map(names), askedFor };
    this.#known.set(selected.application.id, {
      ...next,
      ...this.#waitAfter(selected, next, error),
    });
    // Where hosts are chosen by name the poll fails, which has its own line.
    if (hostSelectorOf(selected) === undefined) this.#report(selected, error);
  }

  /** Notes which hosts have calls, by the values that a poll has brought. */
  polled(selected: SelectedApplication, parts: ReadonlyMap<string, Values>): void {
    if (hostSelectorOf(selected)?.kind !== 'self' || parts.size === 0) return;
    // The vendor may report 0 for a host that has ended, as long as it lists it.
    const busy = [...parts]
      .filter(([, values]) => values.some((value = 0) => value > 0))
      .map(([scope]) => scope);
    this.#known.set(selected.application.id, { ...this.#of(selected), busy: new Set(busy) });
  }

  /** Forgets what is known of applications that are gone. */
  keepOnly(ids: ReadonlySet<string>): void {
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
  }

  #of({ application, entry }: SelectedApplication): KnownNames {
    const known = this.#known.get(application.id);
    const choice = hostChoiceText(hostChoiceOf(entry));
    if (known?.choice === choice) return known;
    return { ...noNames, ...(known && { names: known.names }), choice };
  }

  #waitAfter(
    selected: SelectedApplication,
    known: KnownNames,
    error: HostNames['error'],
  ): Pick<KnownNames, 'askAgainMs' | 'incompleteAnswers'> {
    const { incompleteAnswers } = known;
    if (isComplete(selected, known)) return { askAgainMs: undefined, incompleteAnswers: 0 };
    const nowMs = this.#context.clock.monotonicMs();
    // Names that came before a failure are kept, but say nothing about the rest.
    if (error !== undefined) {
      // Where hosts are chosen by name, it is not known which to poll: the next poll asks again.
      const waitMs = hostSelectorOf(selected) === undefined ? waitAfterFailureMs : 0;
      return { askAgainMs: nowMs + waitMs, incompleteAnswers };
    }
    // The vendor may learn a name a little later than the host, or never.
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** incompleteAnswers);
    return { askAgainMs: nowMs + waitMs, incompleteAnswers: incompleteAnswers + 1 };
  }

  /** Names mostly fail alike for all applications: the account is the subject. */
  #report({ application: { id, name } }: SelectedApplication, error: HostNames['error']): void {
    if ((error !== undefined) === this.#areFailing) return;
    this.#areFailing = error !== undefined;
    const { logger } = this.#context;
    const fields = { account: this.#account, app_id: id, app_name: name.slice(0, longestHostName) };
    if (error === undefined) logger.info(fields, 'host names available again');
    else logger.warn({ ...fields, error, remedy: hostNamesRemedy }, 'host names not available');
  }
}

/** The hosts whose names matter; `undefined` if it is not known which hosts there are. */
function hostsToName({ application, entry }: SelectedApplication): readonly string[] | undefined {
  return hostChoiceOf(entry) === false ? [] : application.hostIds;
}

/** Whether there is nothing more to find out. */
function isComplete(selected: SelectedApplication, { names, askedFor }: KnownNames): boolean {
  const selector = hostSelectorOf(selected);
  if (selector?.kind !== 'self') return names.size === askedFor.size;
  return [...names.values()].some((name) => choosesHost(selector, name));
}
