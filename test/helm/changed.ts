import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from './manifests.ts';

export interface Change {
  /** The objects that are changed: all of this kind. */
  readonly kind: string;
  /** In their JSON. */
  readonly from: string | RegExp;
  readonly to: string;
}

/** The objects with a mistake in them. */
export function changed(
  manifests: readonly Manifest[],
  { kind, from, to }: Change,
): readonly Manifest[] {
  const broken = manifests.map((manifest) =>
    manifest.kind === kind
      ? (JSON.parse(JSON.stringify(manifest).replaceAll(from, to)) as Manifest)
      : manifest,
  );
  if (isDeepStrictEqual(broken, manifests)) throw new Error(`${kind} has no ${String(from)}`);
  return broken;
}
