/** Some of an application's hosts: a condition of NRQL, and the same condition for known names. */
export interface HostSubset {
  /** `undefined` for all hosts. */
  readonly condition: string | undefined;
  readonly has: (name: string) => boolean;
}

export const allHosts: HostSubset = { condition: undefined, has: () => true };

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
/** The ways to divide hosts, in the order in which they are tried: soon both, for names not yet known. */
const patterns: readonly string[] = [places.slice(0, 2), places.slice(2)].flatMap((some) =>
  patternsAt.flatMap((patternAt) =>
    some.flatMap((place) => classes.map((characters) => patternAt(characters, place))),
  ),
);

type Halves = readonly [HostSubset, HostSubset];

function halvesBy(pattern: string, part: HostSubset): Halves {
  const regExp = new RegExp(`^(?:${pattern})$`, 'u');
  const narrowed = (further: string, isIn: (name: string) => boolean): HostSubset => ({
    condition: part.condition === undefined ? further : `${part.condition} AND ${further}`,
    has: (name) => part.has(name) && isIn(name),
  });
  return [
    narrowed(`host RLIKE r'${pattern}'`, (name) => regExp.test(name)),
    narrowed(`host NOT RLIKE r'${pattern}'`, (name) => !regExp.test(name)),
  ];
}

/**
 * Parts of all hosts, with at most so many of these names each, as far as they can be divided. Conditions
 * that do not divide the names are left out.
 */
export function partsOf(names: readonly string[], most: number): readonly HostSubset[] {
  const divided = (
    part: HostSubset,
    inPart: readonly string[],
    depth: number,
  ): readonly HostSubset[] => {
    const pattern = inPart.length > most ? patterns[depth] : undefined;
    if (pattern === undefined) return [part];
    const halves = halvesBy(pattern, part).map((half) => ({
      half,
      names: inPart.filter((name) => half.has(name)),
    }));
    if (halves.some((half) => half.names.length === 0)) return divided(part, inPart, depth + 1);
    return halves.flatMap((half) => divided(half.half, half.names, depth + 1));
  };
  return divided(allHosts, names, 0);
}

/** At least so many parts of all hosts, whatever their names are. */
export function blindPartsOf(count: number): readonly HostSubset[] {
  let parts: readonly HostSubset[] = [allHosts];
  for (const pattern of patterns) {
    if (parts.length >= count) break;
    parts = parts.flatMap((part) => halvesBy(pattern, part));
  }
  return parts;
}
