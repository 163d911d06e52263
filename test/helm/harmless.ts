import { expect } from 'vitest';
import { type Container, type Manifest, type Pod, podsIn } from './manifests.ts';

export function onlyPod(manifests: readonly Manifest[]): Pod {
  const [pod, ...others] = podsIn(manifests.filter(({ kind }) => kind !== 'Pod'));
  if (pod === undefined || others.length > 0) throw new Error('expected one pod');
  return pod;
}

/** Containers that the kubelet refuses to start: their user is root, and they say that it is not. */
export function refusedAsRoot({ spec }: Pod, containers: readonly Container[]): readonly string[] {
  return containers
    .filter(({ securityContext }) => {
      const user = securityContext?.runAsUser ?? spec.securityContext?.runAsUser;
      const isNonRoot = securityContext?.runAsNonRoot ?? spec.securityContext?.runAsNonRoot;
      return user === 0 && isNonRoot === true;
    })
    .map(({ name }) => name);
}

/** What must hold of a sidecar so that it cannot hurt its host, whatever brought it there. */
export function expectHarmless(sidecar: Container | undefined, { spec }: Pod): void {
  if (sidecar === undefined) throw new Error('there is no sidecar');
  const { args, env, ports, resources, securityContext, volumeMounts: mounts = [] } = sidecar;
  const volumes = mounts.map((mount) => spec.volumes?.find(({ name }) => name === mount.name));
  // A container that waits or dies makes its pod unready, and so does the restart by a probe.
  expect(args).toEqual(expect.arrayContaining(['--config.wait', '--respawn']));
  expect(sidecar.readinessProbe).toBeUndefined();
  expect(sidecar.startupProbe).toBeUndefined();
  expect(sidecar.livenessProbe).toBeUndefined();
  expect(sidecar.lifecycle).toBeUndefined();
  expect(ports).toEqual([{ name: 'nr-metrics', containerPort: 9126, protocol: 'TCP' }]);
  expect(securityContext).toEqual({
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
    runAsGroup: 65_532,
    runAsNonRoot: true,
    runAsUser: 65_532,
    seccompProfile: { type: 'RuntimeDefault' },
  });
  expect(env).toEqual([
    { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
  ]);
  expect(resources?.limits['memory']).toBeDefined();
  expect(mounts.filter(({ subPath }) => subPath !== undefined)).toEqual([]);
  expect(mounts.filter(({ name }) => !name.startsWith('newrelic-exporter-'))).toEqual([]);
  // A volume that must be there keeps the whole pod from starting.
  expect(volumes.map((volume) => (volume?.configMap ?? volume?.secret)?.optional)).toEqual([
    true,
    true,
  ]);
}
