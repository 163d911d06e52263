import { describe, expect, it } from 'vitest';
import type { Container, PodSpec } from './manifests.ts';
import { podSecurityProblems } from './pod-security.ts';

const goodContext = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  runAsNonRoot: true,
  seccompProfile: { type: 'RuntimeDefault' },
};

function containerWith(change: object, context: object = {}): Container {
  return {
    name: 'c',
    image: 'i',
    securityContext: { ...goodContext, ...context },
    ...change,
  };
}

function podWith(change: object): PodSpec {
  return { containers: [containerWith({})], ...change };
}

const withContext = (context: object): PodSpec =>
  podWith({ containers: [containerWith({}, context)] });

function problemsOf(spec: PodSpec, annotations: Record<string, string> = {}): readonly string[] {
  return podSecurityProblems({ metadata: { annotations }, spec });
}

describe('the check of Pod Security', () => {
  it.each([
    { pod: 'with everything that is needed', spec: podWith({}) },
    {
      pod: 'that says for all of its containers what may be said there',
      spec: podWith({
        securityContext: { runAsNonRoot: true, seccompProfile: { type: 'Localhost' } },
        containers: [containerWith({}, { runAsNonRoot: undefined, seccompProfile: undefined })],
      }),
    },
    {
      pod: 'with allowed volumes, sysctls, capabilities, probes and options',
      spec: podWith({
        volumes: [
          { name: 'a', configMap: {} },
          { name: 'b', secret: {} },
          { name: 'c', emptyDir: {} },
        ],
        securityContext: { sysctls: [{ name: 'net.ipv4.tcp_syncookies' }] },
        containers: [
          containerWith(
            { livenessProbe: { httpGet: { port: 1 } } },
            {
              capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
              procMount: 'Default',
              seLinuxOptions: { type: 'container_t', level: 's0' },
            },
          ),
        ],
      }),
    },
  ])('accepts a pod $pod', ({ spec }) => {
    expect(problemsOf(spec)).toEqual([]);
  });

  it.each([
    { what: 'hostNetwork', spec: podWith({ hostNetwork: true }) },
    { what: 'hostPID', spec: podWith({ hostPID: true }) },
    { what: 'hostIPC', spec: podWith({ hostIPC: true }) },
    {
      what: 'volume a of type hostPath',
      spec: podWith({ volumes: [{ name: 'a', hostPath: { path: '/' } }] }),
    },
    { what: 'volume a of type nfs', spec: podWith({ volumes: [{ name: 'a', nfs: {} }] }) },
    { what: 'pod: runAsUser 0', spec: podWith({ securityContext: { runAsUser: 0 } }) },
    {
      what: 'pod: sysctl kernel.msgmax',
      spec: podWith({ securityContext: { sysctls: [{ name: 'kernel.msgmax' }] } }),
    },
    {
      what: 'pod: seccompProfile Unconfined',
      spec: podWith({ securityContext: { seccompProfile: { type: 'Unconfined' } } }),
    },
    {
      what: 'pod: runAsNonRoot false',
      spec: podWith({ securityContext: { runAsNonRoot: false } }),
    },
    {
      what: 'pod: hostProcess',
      spec: podWith({ securityContext: { windowsOptions: { hostProcess: true } } }),
    },
    { what: 'c: privileged', spec: withContext({ privileged: true }) },
    {
      what: 'c: allowPrivilegeEscalation',
      spec: withContext({ allowPrivilegeEscalation: undefined }),
    },
    { what: 'c: capabilities are not dropped', spec: withContext({ capabilities: undefined }) },
    {
      what: 'c: capability NET_ADMIN',
      spec: withContext({ capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] } }),
    },
    { what: 'c: procMount', spec: withContext({ procMount: 'Unmasked' }) },
    { what: 'c: runAsUser 0', spec: withContext({ runAsUser: 0 }) },
    { what: 'c: runAsNonRoot is missing', spec: withContext({ runAsNonRoot: undefined }) },
    { what: 'c: runAsNonRoot false', spec: withContext({ runAsNonRoot: false }) },
    { what: 'c: seccompProfile is missing', spec: withContext({ seccompProfile: undefined }) },
    {
      what: 'c: seccompProfile Unconfined',
      spec: withContext({ seccompProfile: { type: 'Unconfined' } }),
    },
    {
      what: 'c: appArmorProfile Unconfined',
      spec: withContext({ appArmorProfile: { type: 'Unconfined' } }),
    },
    { what: 'c: seLinuxOptions.type', spec: withContext({ seLinuxOptions: { type: 'spc_t' } }) },
    { what: 'c: seLinuxOptions.user', spec: withContext({ seLinuxOptions: { user: 'u' } }) },
    { what: 'c: seLinuxOptions.role', spec: withContext({ seLinuxOptions: { role: 'r' } }) },
    {
      what: 'c: hostPort 80',
      spec: podWith({
        containers: [containerWith({ ports: [{ containerPort: 80, hostPort: 80 }] })],
      }),
    },
    {
      what: 'c: livenessProbe of the host 127.0.0.1',
      spec: podWith({
        containers: [containerWith({ livenessProbe: { httpGet: { host: '127.0.0.1', port: 1 } } })],
      }),
    },
    {
      what: 'c: preStop of the host other',
      spec: podWith({
        containers: [
          containerWith({ lifecycle: { preStop: { tcpSocket: { host: 'other', port: 1 } } } }),
        ],
      }),
    },
  ])('refuses: $what', ({ what, spec }) => {
    expect(problemsOf(spec)).toEqual([what]);
  });

  it.each([{ kind: 'initContainers' }, { kind: 'ephemeralContainers' }])(
    'looks at $kind too',
    ({ kind }) => {
      const spec = podWith({ [kind]: [containerWith({ name: 'other' }, { privileged: true })] });

      expect(problemsOf(spec)).toEqual(['other: privileged']);
    },
  );

  it('refuses an annotation that turns AppArmor off', () => {
    const annotations = { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' };

    expect(problemsOf(podWith({}), annotations)).toEqual([
      'annotation container.apparmor.security.beta.kubernetes.io/c: unconfined',
    ]);
  });
});
