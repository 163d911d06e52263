import { nrqlText } from './nrql.ts';

/** Some of an application's hosts: a condition of NRQL, and the same condition for known names. */
export interface HostSubset {
  /** `undefined` for all hosts. */
  readonly condition: string | undefined;
  /** How many times all hosts were divided to get this part. */
  readonly depth: number;
  readonly has: (name: string) => boolean;
}

export const allHosts: HostSubset = { condition: undefined, depth: 0, has: () => true };

/** More names would make the query long. */
export const maxNamedHosts = 100;

/** Only hosts with these names. */
export function namedHosts(names: readonly string[]): HostSubset {
  const wanted = new Set(names);
  return {
    condition: `host IN (${[...wanted].toSorted().map(nrqlText).join(',')})`,
    depth: deepest,
    has: (name) => wanted.has(name),
  };
}

/**
 * Characters at the end of a name, each class about half of the common ones. Rows of a FACET have no
 * pages, so hosts can only be divided by a condition; names of pods end in random characters, other
 * names in digits.
 */
const classes = ['02468acegikmoqsuwyACEGIKMOQSUWY', '014589abefijmnqruvyzABEFIJMNQRUVYZ'];
/** Each class is tried at the last four characters. */
const places = 4;
const deepest = classes.length * places;

/** Both halves of a part; `undefined` if it cannot be divided any further. */
export function halvesOf(part: HostSubset): readonly [HostSubset, HostSubset] | undefined {
  const { depth } = part;
  if (depth >= deepest) return undefined;
  const characters = classes[depth % classes.length] ?? '';
  const before = '.'.repeat(Math.floor(depth / classes.length));
  const pattern = `.*[${characters}]${before}`;
  const regExp = new RegExp(`^(?:${pattern})$`, 'su');
  return [
    narrowed(part, `host RLIKE r'${pattern}'`, (name) => regExp.test(name)),
    narrowed(part, `host NOT RLIKE r'${pattern}'`, (name) => !regExp.test(name)),
  ];
}

function narrowed(
  { condition, depth, has }: HostSubset,
  further: string,
  isIn: (name: string) => boolean,
): HostSubset {
  return {
    condition: condition === undefined ? further : `${condition} AND ${further}`,
    depth: depth + 1,
    has: (name) => has(name) && isIn(name),
  };
}

/** Parts of all hosts with at most so many of these names each, as far as they can be divided. */
export function partsOf(names: readonly string[], most: number): readonly HostSubset[] {
  const divided = (part: HostSubset, inPart: readonly string[]): readonly HostSubset[] => {
    const halves = inPart.length > most ? halvesOf(part) : undefined;
    if (halves === undefined) return [part];
    return halves.flatMap((half) => {
      const inHalf = inPart.filter((name) => half.has(name));
      return inHalf.length === 0 ? [] : divided(half, inHalf);
    });
  };
  return divided(allHosts, names);
}
