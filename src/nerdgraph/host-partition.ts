import { nrqlText } from './nrql.ts';

/** Some of an application's hosts: a condition of NRQL, and the same condition for known names. */
export interface HostSubset {
  /** `undefined` for all hosts. */
  readonly condition: string | undefined;
  /** The next of the ways to divide it that was not tried. */
  readonly depth: number;
  /** The names, if it has only hosts with these. */
  readonly names?: readonly string[];
  readonly has: (name: string) => boolean;
}

export const allHosts: HostSubset = { condition: undefined, depth: 0, has: () => true };

/** More names would make the query long. */
export const maxNamedHosts = 100;

/** Only hosts with these names. */
export function namedHosts(names: readonly string[]): HostSubset {
  const wanted = new Set(names);
  const sorted = [...wanted].toSorted();
  return {
    condition: `host IN (${sorted.map(nrqlText).join(',')})`,
    depth: 0,
    names: sorted,
    has: (name) => wanted.has(name),
  };
}

/**
 * Each class is about half of the common characters. Rows of a FACET have no pages, so hosts can only be
 * divided by a condition; names of pods end in random characters, other names in digits.
 */
const classes = ['02468acegikmoqsuwyACEGIKMOQSUWY', '014589abefijmnqruvyzABEFIJMNQRUVYZ'];
/** Each class is tried at the last four characters. */
const places: readonly number[] = [0, 1, 2, 3];
/** The hosts of a domain all end alike, but differ before the first dot; addresses differ at the end. */
const patternsAt: readonly ((characters: string, place: number) => string)[] = [
  (characters, place) => `[^.]*[${characters}]${'[^.]'.repeat(place)}([.].*)?`,
  (characters, place) => `.*[${characters}]${'.'.repeat(place)}`,
];
/** The ways to divide hosts, in the order in which they are tried. */
const patterns: readonly string[] = patternsAt.flatMap((patternAt) =>
  places.flatMap((place) => classes.map((characters) => patternAt(characters, place))),
);

type Halves = readonly [HostSubset, HostSubset];

/**
 * Both halves of a part; `undefined` if it cannot be divided any further.
 *
 * @param known the names of the hosts in it that matter. They can be divided down to single names: by the
 * first condition that does it, or else by naming them. Without them it is divided blindly.
 */
export function halvesOf(part: HostSubset, known?: readonly string[]): Halves | undefined {
  if (known === undefined) return halvesAt(part, part.depth);
  return dividing(part, known) ?? namedHalves(known.filter((name) => part.has(name)));
}

/** Halves that both have some of the names; `undefined` if the names cannot be divided. */
function dividing(part: HostSubset, names: readonly string[]): Halves | undefined {
  if (names.length < 2 || part.names !== undefined) return undefined;
  for (let depth = part.depth; depth < patterns.length; depth += 1) {
    const halves = halvesAt(part, depth);
    if (halves?.every((half) => names.some((name) => half.has(name))) === true) return halves;
  }
  return undefined;
}

function namedHalves(names: readonly string[]): Halves | undefined {
  if (names.length < 2) return undefined;
  const middle = Math.ceil(names.length / 2);
  return [namedHosts(names.slice(0, middle)), namedHosts(names.slice(middle))];
}

function halvesAt(part: HostSubset, depth: number): Halves | undefined {
  if (part.names !== undefined) return namedHalves(part.names);
  const pattern = patterns[depth];
  if (pattern === undefined) return undefined;
  const regExp = new RegExp(`^(?:${pattern})$`, 'u');
  const narrowed = (further: string, isIn: (name: string) => boolean): HostSubset => ({
    condition: part.condition === undefined ? further : `${part.condition} AND ${further}`,
    depth: depth + 1,
    has: (name) => part.has(name) && isIn(name),
  });
  return [
    narrowed(`host RLIKE r'${pattern}'`, (name) => regExp.test(name)),
    narrowed(`host NOT RLIKE r'${pattern}'`, (name) => !regExp.test(name)),
  ];
}

/** Parts of all hosts with at most so many of these names each, as far as they can be divided. */
export function partsOf(names: readonly string[], most: number): readonly HostSubset[] {
  const divided = (part: HostSubset, inPart: readonly string[]): readonly HostSubset[] => {
    const halves = inPart.length > most ? dividing(part, inPart) : undefined;
    if (halves === undefined) return [part];
    return halves.flatMap((half) =>
      divided(
        half,
        inPart.filter((name) => half.has(name)),
      ),
    );
  };
  return divided(allHosts, names);
}

/** At least so many parts of all hosts, whatever their names are. */
export function blindPartsOf(count: number): readonly HostSubset[] {
  let parts: readonly HostSubset[] = [allHosts];
  while (parts.length < count) {
    const next = parts.flatMap((part) => halvesOf(part) ?? [part]);
    if (next.length === parts.length) break;
    parts = next;
  }
  return parts;
}
