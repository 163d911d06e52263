/** As much of Mermaid's flowcharts as the documents of this project use. */

interface MermaidNode {
  readonly id: string;
  /** What stands in its brackets, up to a colon. */
  readonly label: string | undefined;
}

/**
 * The arrows between nodes, as `from -> to`; the name of a node is its label up to the colon. An arrow
 * from or to a subgraph stands for one from or to each of the nodes that have their labels in it.
 */
export function arrowsIn(flowchart: string): readonly string[] {
  const labels = new Map<string, string>();
  const members = new Map<string, Set<string>>();
  const arrows: (readonly MermaidNode[])[] = [];
  let open: string | undefined;
  for (const line of flowchart.split('\n').map((one) => one.trim())) {
    const subgraph = /^subgraph (\w+)/u.exec(line)?.[1];
    const nodes = subgraph === undefined ? nodesIn(line) : [];
    if (subgraph !== undefined) members.set(subgraph, new Set());
    for (const { id, label } of nodes.filter((node) => node.label !== undefined)) {
      labels.set(id, label ?? id);
      if (open !== undefined) members.get(open)?.add(id);
    }
    if (line.includes('-->')) arrows.push(nodes);
    open = line === 'end' ? undefined : (subgraph ?? open);
  }
  const namesOf = ({ id }: MermaidNode): readonly string[] =>
    [...(members.get(id) ?? [id])].map((one) => labels.get(one) ?? one);
  return arrows.flatMap(([from, to]) =>
    from === undefined || to === undefined
      ? []
      : namesOf(from).flatMap((one) => namesOf(to).map((other) => `${one} -> ${other}`)),
  );
}

function nodesIn(line: string): readonly MermaidNode[] {
  if (line === 'end' || line.startsWith('flowchart')) return [];
  return [...line.matchAll(/(\w+)(?:\[([^\]:]+)[^\]]*\])?(?=\s|$)/gu)].map(
    ([, id = '', label]) => ({ id, label }),
  );
}
