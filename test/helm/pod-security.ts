import {
  type Container,
  containersOf,
  type Pod,
  type PodSpec,
  type SecurityContext,
} from './manifests.ts';

/** Volume types that the restricted standard allows, besides the name of the volume. */
const volumeKeys: ReadonlySet<string> = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'name',
  'persistentVolumeClaim',
  'projected',
  'secret',
]);

const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
]);

const seLinuxTypes: ReadonlySet<string> = new Set([
  '',
  'container_t',
  'container_init_t',
  'container_kvm_t',
  'container_engine_t',
]);

const appArmorAnnotation = 'container.apparmor.security.beta.kubernetes.io/';

/** One control: what is wrong, in a few words. */
type Found = readonly (string | false)[];

function namespaceProblems(spec: PodSpec): Found {
  return [
    spec.hostNetwork === true && 'hostNetwork',
    spec.hostPID === true && 'hostPID',
    spec.hostIPC === true && 'hostIPC',
  ];
}

function volumeProblems(spec: PodSpec): Found {
  return (spec.volumes ?? []).flatMap((volume) =>
    Object.keys(volume)
      .filter((key) => !volumeKeys.has(key))
      .map((key) => `volume ${volume.name} of type ${key}`),
  );
}

function seLinuxProblems(where: string, options: SecurityContext['seLinuxOptions'] = {}): Found {
  return [
    !seLinuxTypes.has(options['type'] ?? '') && `${where}: seLinuxOptions.type`,
    (options['user'] ?? '') !== '' && `${where}: seLinuxOptions.user`,
    (options['role'] ?? '') !== '' && `${where}: seLinuxOptions.role`,
  ];
}

/** Both kinds of profile may be missing here, but if there is one, it must confine. */
function profileProblems(where: string, context: SecurityContext): Found {
  return (['seccompProfile', 'appArmorProfile'] as const).map((key) => {
    const type = context[key]?.type ?? 'RuntimeDefault';
    return type !== 'RuntimeDefault' && type !== 'Localhost' && `${where}: ${key} ${type}`;
  });
}

/** What a pod and a container may say about themselves alike. */
function contextProblems(where: string, context: SecurityContext): Found {
  return [
    context.runAsUser === 0 && `${where}: runAsUser 0`,
    context.runAsNonRoot === false && `${where}: runAsNonRoot false`,
    context.windowsOptions?.hostProcess === true && `${where}: hostProcess`,
    ...profileProblems(where, context),
    ...seLinuxProblems(where, context.seLinuxOptions),
    ...(context.sysctls ?? []).map(
      ({ name }) => !safeSysctls.has(name) && `${where}: sysctl ${name}`,
    ),
  ];
}

/** What only a container can say. */
function containerProblems(container: Container): Found {
  const { name: where, securityContext = {}, ports = [] } = container;
  const { add = [], drop = [] } = securityContext.capabilities ?? {};
  return [
    securityContext.privileged === true && `${where}: privileged`,
    securityContext.allowPrivilegeEscalation !== false && `${where}: allowPrivilegeEscalation`,
    !drop.includes('ALL') && `${where}: capabilities are not dropped`,
    ...add.map((added) => added !== 'NET_BIND_SERVICE' && `${where}: capability ${added}`),
    (securityContext.procMount ?? 'Default') !== 'Default' && `${where}: procMount`,
    ...ports.map(({ hostPort = 0 }) => hostPort !== 0 && `${where}: hostPort ${hostPort}`),
  ];
}

/** Since 1.34 probes and hooks must not name a host: they would be requests of the kubelet's. */
function handlerProblems({ name, lifecycle, ...container }: Container): Found {
  const handlers = {
    livenessProbe: container.livenessProbe,
    readinessProbe: container.readinessProbe,
    startupProbe: container.startupProbe,
    postStart: lifecycle?.postStart,
    preStop: lifecycle?.preStop,
  };
  return Object.entries(handlers).map(([key, handler]) => {
    const host = handler?.httpGet?.host ?? handler?.tcpSocket?.host ?? '';
    return host !== '' && `${name}: ${key} of the host ${host}`;
  });
}

/** What either the pod says or each of its containers. */
function missingProblems(spec: PodSpec, container: Container): Found {
  const own = container.securityContext;
  const all = spec.securityContext;
  return [
    (own?.runAsNonRoot ?? all?.runAsNonRoot) === undefined &&
      `${container.name}: runAsNonRoot is missing`,
    (own?.seccompProfile ?? all?.seccompProfile) === undefined &&
      `${container.name}: seccompProfile is missing`,
  ];
}

function annotationProblems({ annotations = {} }: Pod['metadata']): Found {
  return Object.entries(annotations).map(
    ([key, value]) =>
      key.startsWith(appArmorAnnotation) &&
      !/^(?:runtime\/default|localhost\/.*)$/.test(value) &&
      `annotation ${key}: ${value}`,
  );
}

/**
 * What keeps a pod out of a namespace that enforces the Pod Security Standard "restricted", in its version
 * of Kubernetes 1.34; empty if nothing does.
 */
export function podSecurityProblems({ metadata, spec }: Pick<Pod, 'metadata' | 'spec'>): string[] {
  const found = [
    ...namespaceProblems(spec),
    ...volumeProblems(spec),
    ...annotationProblems(metadata),
    ...contextProblems('pod', spec.securityContext ?? {}),
    ...containersOf(spec).flatMap((container) => [
      ...contextProblems(container.name, container.securityContext ?? {}),
      ...containerProblems(container),
      ...handlerProblems(container),
      ...missingProblems(spec, container),
    ]),
  ];
  return found.filter((problem) => problem !== false);
}
