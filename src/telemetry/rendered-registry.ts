import { Registry } from 'prom-client';

/** A registry whose text is rendered again only when something in it has changed. */
export interface RenderedRegistry {
  readonly registry: Registry;
  /** Must be called after every change. */
  changed(): void;
  text(): Promise<string>;
}

export function createRenderedRegistry(): RenderedRegistry {
  const registry = new Registry();
  let version = 0;
  let rendered: { readonly version: number; readonly text: Promise<string> } | undefined;
  return {
    registry,
    changed: () => {
      version += 1;
    },
    text: async () => {
      if (rendered?.version !== version) rendered = { version, text: registry.metrics() };
      return rendered.text;
    },
  };
}
