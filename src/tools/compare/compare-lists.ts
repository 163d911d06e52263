import type { Application } from '../../model/application.ts';
import type { AppEntry } from '../../model/config.ts';
import type { SelectedApplication } from '../../model/selected-application.ts';
import { selectApplications } from '../../model/selector.ts';
import type { Discovery } from '../../model/source.ts';

/** The same of each API of the vendor. */
export interface OfBoth<Value> {
  readonly rest: Value;
  readonly nerdgraph: Value;
}

/** An application that the entries choose from one list only. */
export interface OneSidedApplication extends Pick<Application, 'id' | 'name' | 'reporting'> {
  /** `unclear`: the other list has it but could not read it, or was not asked for it alone yet. */
  readonly onlyIn: keyof OfBoth<unknown> | 'unclear';
}

/** Whether an application that only one list has matters: a silent one has no values. */
export function isObjection({ onlyIn, reporting }: OneSidedApplication): boolean {
  return onlyIn !== 'unclear' && reporting !== false;
}

/** An application that has another name in NerdGraph. */
export interface RenamedApplication extends OfBoth<string> {
  readonly id: string;
}

/** What the entries choose from both lists, joined by the id of the application. */
export interface JoinedLists {
  readonly applications: OfBoth<number>;
  /** The applications that both lists have. */
  readonly pairs: readonly OfBoth<SelectedApplication>[];
  readonly renamed: readonly RenamedApplication[];
  readonly oneSided: readonly OneSidedApplication[];
}

export function joinedLists(
  entries: readonly AppEntry[],
  { rest, nerdgraph }: OfBoth<Discovery>,
): JoinedLists {
  const restOnes = chosenById(entries, rest);
  const nerdgraphOnes = chosenById(entries, nerdgraph);
  const pairs = [...restOnes].flatMap(([id, one]) => {
    const other = nerdgraphOnes.get(id);
    return other === undefined ? [] : [{ rest: one, nerdgraph: other }];
  });
  return {
    applications: { rest: restOnes.size, nerdgraph: nerdgraphOnes.size },
    pairs,
    renamed: pairs.flatMap(renamedOf),
    oneSided: [
      ...oneSided('rest', restOnes, nerdgraphOnes, nerdgraph),
      ...oneSided('nerdgraph', nerdgraphOnes, restOnes, rest),
    ],
  };
}

type ChosenById = ReadonlyMap<string, SelectedApplication>;

function chosenById(entries: readonly AppEntry[], { applications }: Discovery): ChosenById {
  const { selected } = selectApplications(entries, applications);
  return new Map(selected.map((one) => [one.application.id, one]));
}

function oneSided(
  onlyIn: keyof OfBoth<unknown>,
  list: ChosenById,
  other: ChosenById,
  { pendingIds, unreadableIds }: Discovery,
): readonly OneSidedApplication[] {
  const unclear = new Set([...pendingIds, ...unreadableIds]);
  return [...list.values()]
    .filter(({ application }) => !other.has(application.id))
    .map(({ application: { id, name, reporting } }) => ({
      id,
      name,
      reporting,
      onlyIn: unclear.has(id) ? 'unclear' : onlyIn,
    }));
}

function renamedOf(pair: OfBoth<SelectedApplication>): readonly RenamedApplication[] {
  const { id, name: rest } = pair.rest.application;
  const { name: nerdgraph } = pair.nerdgraph.application;
  return rest === nerdgraph ? [] : [{ id, rest, nerdgraph }];
}
