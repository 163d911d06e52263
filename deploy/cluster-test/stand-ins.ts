import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import type { EndpointSlice, Kubernetes, Pod, Service } from './kubernetes.ts';

export interface StandInOptions {
  readonly node: string;
  readonly dnsAddress: string;
}

const domain = '.svc.cluster.local';

/** Binds every pod to the only node, which is all that the scheduler would do. */
function startScheduler(kubernetes: Kubernetes, node: string): () => void {
  return kubernetes.watch<Pod>('/api/v1/pods', ({ type, object: pod }) => {
    if (type !== 'ADDED' || pod.spec.nodeName !== undefined) return;
    const { name, namespace = '' } = pod.metadata;
    const binding = {
      apiVersion: 'v1',
      kind: 'Binding',
      metadata: { name },
      target: { apiVersion: 'v1', kind: 'Node', name: node },
    };
    kubernetes
      .post(`/api/v1/namespaces/${namespace}/pods/${name}/binding`, binding)
      .catch(() => undefined);
  });
}

/** Services and their endpoints as they are now. */
interface Directory {
  services(): readonly Service[];
  slicesOf(service: Service): readonly EndpointSlice[];
  stop(): void;
}

const keyOf = (metadata: { readonly namespace?: string; readonly name: string }): string =>
  `${metadata.namespace ?? ''}/${metadata.name}`;

function createDirectory(kubernetes: Kubernetes, onChange: () => void): Directory {
  const services = new Map<string, Service>();
  const slices = new Map<string, EndpointSlice>();
  function keep<T extends Service | EndpointSlice>(path: string, map: Map<string, T>): () => void {
    return kubernetes.watch<T>(path, ({ type, object }) => {
      if (type === 'DELETED') map.delete(keyOf(object.metadata));
      else if (type === 'ADDED' || type === 'MODIFIED') map.set(keyOf(object.metadata), object);
      onChange();
    });
  }
  const stops = [
    keep('/api/v1/services', services),
    keep('/apis/discovery.k8s.io/v1/endpointslices', slices),
  ];
  return {
    services: () => [...services.values()],
    slicesOf: ({ metadata }) =>
      [...slices.values()].filter(
        (slice) =>
          slice.metadata.namespace === metadata.namespace &&
          slice.metadata.labels?.['kubernetes.io/service-name'] === metadata.name,
      ),
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}

const readyAddresses = (slices: readonly EndpointSlice[]): readonly string[] =>
  slices.flatMap(({ endpoints }) =>
    (endpoints ?? []).flatMap(({ addresses, conditions }) =>
      conditions.ready === true ? addresses : [],
    ),
  );

/** The rules that lead a service's address to the first of its endpoints. */
function serviceRules(directory: Pick<Directory, 'services' | 'slicesOf'>): string {
  const rules = directory.services().flatMap((service) => {
    const { clusterIP = 'None', ports = [] } = service.spec;
    if (clusterIP === 'None') return [];
    const slices = directory.slicesOf(service);
    const [address] = readyAddresses(slices);
    if (address === undefined) return [];
    return ports.flatMap(({ name, port }) => {
      const target = slices
        .flatMap((slice) => slice.ports)
        .find((entry) => (entry.name ?? '') === (name ?? ''))?.port;
      if (target === undefined) return [];
      const rule = `-d ${clusterIP}/32 -p tcp -m tcp --dport ${port} -j DNAT --to-destination ${address}:${target}`;
      return [`-A PREROUTING ${rule}`, `-A OUTPUT ${rule}`];
    });
  });
  const masquerade = '-A POSTROUTING -m conntrack --ctstate DNAT -j MASQUERADE';
  return ['*nat', ...rules, masquerade, 'COMMIT', ''].join('\n');
}

function restoreRules(rules: string): void {
  const child = execFile('iptables-restore', [], (error) => {
    if (error !== null) process.stderr.write(`iptables-restore: ${error.message}\n`);
  });
  child.stdin?.end(rules);
}

interface Question {
  readonly name: string;
  readonly type: number;
  /** Where the question ends in the message. */
  readonly end: number;
}

function readQuestion(message: Buffer): Question {
  const labels: string[] = [];
  let offset = 12;
  for (let length = message[offset] ?? 0; length > 0; length = message[offset] ?? 0) {
    labels.push(message.toString('latin1', offset + 1, offset + 1 + length));
    offset += length + 1;
  }
  return {
    name: labels.join('.').toLowerCase(),
    type: message.readUInt16BE(offset + 1),
    end: offset + 5,
  };
}

const noSuchName = 3;
const typeA = 1;

/** Answers with the IPv4 addresses; `undefined`: there is no such name. RFC 1035, section 4. */
function answerTo(
  message: Buffer,
  question: Question,
  addresses: readonly string[] | undefined,
): Buffer {
  const shown = question.type === typeA ? (addresses ?? []) : [];
  const head = Buffer.from(message.subarray(0, question.end));
  head.writeUInt16BE(0x84_80 + (addresses === undefined ? noSuchName : 0), 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(shown.length, 6);
  head.writeUInt32BE(0, 8);
  const records = shown.map((address) =>
    Buffer.from([0xc0, 12, 0, typeA, 0, 1, 0, 0, 0, 5, 0, 4, ...address.split('.').map(Number)]),
  );
  return Buffer.concat([head, ...records]);
}

function addressesOf(directory: Directory, name: string): readonly string[] | undefined {
  if (!name.endsWith(domain)) return undefined;
  const [service, namespace] = name.slice(0, -domain.length).split('.');
  const found = directory
    .services()
    .find(({ metadata }) => metadata.name === service && metadata.namespace === namespace);
  if (found === undefined) return undefined;
  const { clusterIP = 'None' } = found.spec;
  return clusterIP === 'None' ? readyAddresses(directory.slicesOf(found)) : [clusterIP];
}

/**
 * What a cluster has besides the programs of Kubernetes: a scheduler, kube-proxy and DNS, as small as
 * one node allows. Returns what ends them.
 */
export async function startStandIns(
  kubernetes: Kubernetes,
  options: StandInOptions,
): Promise<() => void> {
  let due: NodeJS.Timeout | undefined;
  const directory = createDirectory(kubernetes, () => {
    due ??= setTimeout(() => {
      due = undefined;
      restoreRules(serviceRules(directory));
    }, 100);
  });
  const stopScheduler = startScheduler(kubernetes, options.node);
  const socket = createSocket('udp4');
  socket.on('message', (message, peer) => {
    const question = readQuestion(message);
    socket.send(
      answerTo(message, question, addressesOf(directory, question.name)),
      peer.port,
      peer.address,
    );
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('error', reject).bind(53, options.dnsAddress, resolve);
  });
  return () => {
    clearTimeout(due);
    stopScheduler();
    directory.stop();
    socket.close();
  };
}
