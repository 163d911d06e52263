import { isSeq, type Node } from 'yaml';
import { errorAt, type Problem } from './diagnostic.ts';
import { snakeCase } from './label-fields.ts';
import {
  type FileMap,
  isFileMap,
  keysOf,
  locate,
  mapsUnder,
  plainOf,
  spanOf,
  textEntry,
  valueOf,
} from './yaml-node.ts';

const remedy = 'write "source: nerdgraph" and "account_id" in that account';

/** The name of the account of an entry of `apps` or `queries`. */
export function createAccountOf(root: FileMap): (map: FileMap) => string {
  const [first] = mapsUnder(root, 'accounts');
  const usual = (first && textEntry(first, 'name')?.text) ?? 'default';
  return (map) => textEntry(map, 'account')?.text ?? usual;
}

/** The labels that a value of `tags` makes, by tag. */
function tagLabelsOf(tags: Node | undefined): readonly (readonly [tag: string, label: string])[] {
  const plain = plainOf(tags);
  if (isSeq(tags) && Array.isArray(plain))
    return plain.map((tag) => [String(tag), snakeCase(String(tag))]);
  if (!isFileMap(tags)) return [];
  return keysOf(tags).map((tag) => [tag, textEntry(tags, tag)?.text ?? '']);
}

/** Labels of an entry beside those of tags: its own, and those of its metrics. */
function otherLabelsOf(app: FileMap, root: FileMap): ReadonlySet<string> {
  const metrics = valueOf(app, 'metrics') ?? locate(root, ['poll', 'metrics']);
  const maps = [app, ...(isSeq(metrics) ? metrics.items : [])].filter(isFileMap);
  return new Set(
    maps.flatMap((map) => {
      const labels = valueOf(map, 'labels');
      return isFileMap(labels) ? keysOf(labels) : [];
    }),
  );
}

function tagProblemsOf(tags: Node, taken: ReadonlySet<string>): readonly Problem[] {
  const seen = new Set(taken);
  return tagLabelsOf(tags).flatMap(([tag, label]) => {
    const isTaken = seen.has(label);
    seen.add(label);
    if (!isTaken) return [];
    const message = `the label "${label}" of the tag "${tag}" is there already`;
    return [
      errorAt(spanOf(tags), message, `rename it: tags: { ${JSON.stringify(tag)}: other_name }`),
    ];
  });
}

/** What only accounts with NerdGraph can have, and labels of tags that are there twice. */
export function nerdgraphProblems(root: FileMap): readonly Problem[] {
  const accountOf = createAccountOf(root);
  const nerdgraph = new Set(
    mapsUnder(root, 'accounts').flatMap((account) =>
      textEntry(account, 'source')?.text === 'nerdgraph' ? [textEntry(account, 'name')?.text] : [],
    ),
  );
  const refusal = (map: FileMap, node: Node, what: string): readonly Problem[] => {
    const account = accountOf(map);
    if (nerdgraph.has(account)) return [];
    const message = `${what} only with "source: nerdgraph", and the account "${account}" has "source: rest"`;
    return [errorAt(spanOf(node), message, remedy)];
  };
  const usual = locate(root, ['poll', 'tags']);
  const seen = new Set<string>();
  const tagProblems = mapsUnder(root, 'apps').flatMap((app) => {
    const tags = app.has('tags') ? valueOf(app, 'tags') : usual;
    if (tags === undefined || tagLabelsOf(tags).length === 0) return [];
    return [
      ...refusal(app, tags, 'there are tags'),
      ...tagProblemsOf(tags, otherLabelsOf(app, root)),
    ];
  });
  const queries = mapsUnder(root, 'queries');
  return [
    // The same in each entry that has the tags of "poll".
    ...tagProblems.filter(({ span, message }) => {
      const key = `${span?.start} ${message}`;
      return seen.size < seen.add(key).size;
    }),
    ...queries.flatMap((query) =>
      refusal(query, valueOf(query, 'account') ?? query, 'there are queries'),
    ),
  ];
}
