/** As much of Mermaid's flowcharts as the documents of this project use. */

/**
 * The arrows between nodes, as `from -> to`; the name of a node is its label up to the colon. An arrow
 * from or to a subgraph stands for one from or to each of its nodes.
 */
export function arrowsIn(flowchart: string): readonly string[] {
  const labels = new Map<string, string>();
  const members = new Map<string, string[]>();
  const arrows: (readonly [string, string])[] = [];
  let subgraph: string | undefined;
  for (const line of flowchart.split('\n').map((one) => one.trim())) {
    const opened = /^subgraph (\w+)/u.exec(line)?.[1];
    if (opened !== undefined) {
      subgraph = opened;
      members.set(opened, []);
    } else if (line === 'end') {
      subgraph = undefined;
    } else {
      const ids = [...line.matchAll(/(\w+)(?:\[([^\]:]+)[^\]]*\])?(?=\s|$)/gu)].map(
        ([, id = '', label]) => {
          if (label !== undefined) labels.set(id, label);
          return id;
        },
      );
      const [from, to] = line.includes('-->') ? [ids[0], ids.at(-1)] : [undefined, undefined];
      if (from !== undefined && to !== undefined) arrows.push([from, to]);
      const own = subgraph === undefined ? undefined : members.get(subgraph);
      for (const id of ids)
        if (own !== undefined && labels.has(id) && !own.includes(id)) own.push(id);
    }
  }
  const nodesOf = (id: string): readonly string[] => members.get(id) ?? [id];
  const nameOf = (id: string): string => labels.get(id) ?? id;
  return arrows.flatMap(([from, to]) =>
    nodesOf(from).flatMap((one) =>
      nodesOf(to).map((other) => `${nameOf(one)} -> ${nameOf(other)}`),
    ),
  );
}
