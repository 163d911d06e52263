/** As much of a rendered object as is looked at. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Metadata & { readonly name: string; readonly namespace?: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
}

export interface Metadata {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

interface Handler {
  readonly httpGet?: { readonly host?: string; readonly port?: string | number };
  readonly tcpSocket?: { readonly host?: string; readonly port?: string | number };
}

export interface SecurityContext {
  readonly allowPrivilegeEscalation?: boolean;
  readonly appArmorProfile?: { readonly type: string };
  readonly capabilities?: { readonly add?: readonly string[]; readonly drop?: readonly string[] };
  readonly privileged?: boolean;
  readonly procMount?: string;
  readonly readOnlyRootFilesystem?: boolean;
  readonly runAsGroup?: number;
  readonly runAsNonRoot?: boolean;
  readonly runAsUser?: number;
  readonly seLinuxOptions?: Readonly<Record<string, string>>;
  readonly seccompProfile?: { readonly type: string };
  readonly sysctls?: readonly { readonly name: string }[];
  readonly windowsOptions?: { readonly hostProcess?: boolean };
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly {
    readonly name: string;
    readonly value?: string;
    readonly valueFrom?: Readonly<Record<string, unknown>>;
  }[];
  readonly envFrom?: readonly Readonly<Record<string, unknown>>[];
  readonly lifecycle?: { readonly postStart?: Handler; readonly preStop?: Handler };
  readonly livenessProbe?: Handler;
  readonly readinessProbe?: Handler;
  readonly startupProbe?: Handler;
  readonly ports?: readonly {
    readonly name?: string;
    readonly containerPort: number;
    readonly hostPort?: number;
  }[];
  readonly restartPolicy?: string;
  readonly resources?: Readonly<Record<'requests' | 'limits', Readonly<Record<string, string>>>>;
  readonly securityContext?: SecurityContext;
  readonly volumeMounts?: readonly {
    readonly name: string;
    readonly mountPath: string;
    readonly subPath?: string;
  }[];
}

export interface Volume {
  readonly name: string;
  readonly configMap?: { readonly name: string; readonly optional?: boolean };
  readonly secret?: {
    readonly secretName: string;
    readonly defaultMode?: number;
    readonly optional?: boolean;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
}

export interface PodSpec {
  readonly automountServiceAccountToken?: boolean;
  readonly containers: readonly Container[];
  readonly ephemeralContainers?: readonly Container[];
  readonly hostIPC?: boolean;
  readonly hostNetwork?: boolean;
  readonly hostPID?: boolean;
  readonly imagePullSecrets?: readonly { readonly name: string }[];
  readonly initContainers?: readonly Container[];
  readonly securityContext?: SecurityContext;
  readonly volumes?: readonly Volume[];
}

export interface Pod {
  /** Kind and name of the object that it stands in. */
  readonly of: string;
  readonly metadata: Metadata;
  readonly spec: PodSpec;
}

const workloads = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job', 'ReplicaSet']);

interface WithTemplate {
  readonly template: Pick<Pod, 'metadata' | 'spec'>;
}

function templateOf({ kind, spec }: Manifest): WithTemplate['template'] | undefined {
  if (workloads.has(kind)) return (spec as unknown as WithTemplate).template;
  if (kind !== 'CronJob') return undefined;
  return (spec as unknown as { jobTemplate: { spec: WithTemplate } }).jobTemplate.spec.template;
}

/** Every pod: those of workloads, and those that stand for themselves such as the one of `helm test`. */
export function podsIn(manifests: readonly Manifest[]): readonly Pod[] {
  return manifests.flatMap((manifest) => {
    const of = `${manifest.kind} ${manifest.metadata.name}`;
    if (manifest.kind === 'Pod') {
      return [{ of, metadata: manifest.metadata, spec: manifest.spec as unknown as PodSpec }];
    }
    const template = templateOf(manifest);
    return template === undefined ? [] : [{ of, ...template }];
  });
}

/** Every container, also those that start first and those that are added to debug. */
export function containersOf(spec: PodSpec): readonly Container[] {
  return [...(spec.initContainers ?? []), ...spec.containers, ...(spec.ephemeralContainers ?? [])];
}

export function ofKind(manifests: readonly Manifest[], kind: string): readonly Manifest[] {
  return manifests.filter((manifest) => manifest.kind === kind);
}
