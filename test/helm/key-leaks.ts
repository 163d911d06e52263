import { containersOf, type Manifest, podsIn } from './manifests.ts';

/** Variables and arguments that would hold a key, or say which key to send. */
const keyName = /api[-_]?key(?![-_]?(?:file|header|env))|license[-_]?key|token|password/iu;

function textsIn(value: unknown, path: string): readonly { path: string; text: string }[] {
  if (typeof value !== 'object' || value === null) return [{ path, text: String(value) }];
  return Object.entries(value).flatMap(([key, child]) => [
    { path: `${path}.${key}`, text: key },
    ...textsIn(child, `${path}.${key}`),
  ]);
}

function withoutData(manifest: Manifest): Manifest {
  const { data: _, ...rest } = manifest;
  return manifest.kind === 'Secret' ? rest : manifest;
}

/** Where a key stands, as it is or in Base64, outside of the data of a Secret. */
export function keyLeaks(manifests: readonly Manifest[], key: string): readonly string[] {
  const encoded = Buffer.from(key).toString('base64');
  return manifests
    .flatMap((manifest) =>
      textsIn(withoutData(manifest), `${manifest.kind} ${manifest.metadata.name}`),
    )
    .filter(({ text }) => text.includes(key) || text.includes(encoded))
    .map(({ path }) => path);
}

/** The environment variables that hold a key, be it by reference: everybody sees them in the process. */
export function keysInEnvironment(manifests: readonly Manifest[]): readonly string[] {
  return podsIn(manifests).flatMap(({ of, spec }) =>
    containersOf(spec).flatMap(({ name, env = [], envFrom = [] }) => [
      ...env
        .filter(
          (variable) => keyName.test(variable.name) || 'secretKeyRef' in (variable.valueFrom ?? {}),
        )
        .map((variable) => `${of}: ${name}: ${variable.name}`),
      ...envFrom.filter((source) => 'secretRef' in source).map(() => `${of}: ${name}: envFrom`),
    ]),
  );
}
