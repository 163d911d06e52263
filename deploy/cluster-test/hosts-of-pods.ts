import type { Pod } from './kubernetes.ts';
import type { Lab } from './lab.ts';

/** Tells the name of every new pod, as the host's own agent tells New Relic; returns what ends it. */
export function reportPods(
  lab: Lab,
  namespace: string,
  selector: string,
  onPod: (name: string) => void,
): () => void {
  const known = new Set<string>();
  const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector)}`;
  return lab.kubernetes.watch<Pod>(path, ({ type, object }) => {
    if (type === 'DELETED' || known.has(object.metadata.name)) return;
    known.add(object.metadata.name);
    onPod(object.metadata.name);
  });
}
