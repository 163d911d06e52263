import { type RequestOptions, request } from 'node:https';
import { createInterface } from 'node:readline';

/** What of the API's objects is looked at here. */
export interface Metadata {
  readonly name: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly deletionTimestamp?: string;
}

export interface ContainerStatus {
  readonly name: string;
  readonly ready: boolean;
  readonly restartCount: number;
  readonly containerID?: string;
  readonly state: {
    readonly running?: object;
    readonly waiting?: { readonly reason?: string };
    readonly terminated?: { readonly reason?: string };
  };
}

export interface Pod {
  readonly metadata: Metadata;
  readonly spec: { readonly nodeName?: string };
  readonly status: {
    readonly phase?: string;
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
    readonly containerStatuses?: readonly ContainerStatus[];
    readonly initContainerStatuses?: readonly ContainerStatus[];
  };
}

export interface Service {
  readonly metadata: Metadata;
  readonly spec: {
    readonly clusterIP?: string;
    readonly ports?: readonly { readonly name?: string; readonly port: number }[];
  };
}

interface Endpoint {
  readonly addresses: readonly string[];
  readonly conditions: { readonly ready?: boolean };
}

export interface EndpointSlice {
  readonly metadata: Metadata;
  /** Null instead of empty. */
  readonly endpoints: readonly Endpoint[] | null;
  readonly ports: readonly { readonly name?: string; readonly port?: number }[];
}

export interface WatchEvent<T> {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
  readonly object: T;
}

/** The API server, as far as it is asked without kubectl. */
export interface Kubernetes {
  /** Rejects with the server's sentence when the status is not 2xx. */
  get<T>(path: string): Promise<T>;
  post(path: string, body: object): Promise<void>;
  /** Tells what is there and every change, until stopped; begins anew when the server ends it. */
  watch<T>(path: string, onEvent: (event: WatchEvent<T>) => void): () => void;
}

export interface KubernetesOptions {
  readonly server: string;
  readonly certificate: string;
  readonly token: string;
}

export function createKubernetes(options: KubernetesOptions): Kubernetes {
  const { server, certificate, token } = options;
  const requestOptions: RequestOptions = {
    ca: certificate,
    headers: { authorization: `Bearer ${token}` },
  };

  const ask = async (method: string, path: string, body?: object): Promise<string> =>
    new Promise((resolve, reject) => {
      const sent = request(`${server}${path}`, { ...requestOptions, method }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => (text += part));
        response.on('end', () => {
          const status = response.statusCode ?? 0;
          if (status >= 200 && status < 300) resolve(text);
          else reject(new Error(`${method} ${path}: ${status} ${text}`));
        });
      });
      sent.on('error', reject);
      sent.setHeader('content-type', 'application/json');
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });

  function watch<T>(path: string, onEvent: (event: WatchEvent<T>) => void): () => void {
    let stopped = false;
    let cancel = (): void => undefined;
    const open = (): void => {
      if (stopped) return;
      const separator = path.includes('?') ? '&' : '?';
      const sent = request(`${server}${path}${separator}watch=1`, requestOptions, (response) => {
        createInterface({ input: response })
          .on('line', (line) => {
            if (!stopped) onEvent(JSON.parse(line) as WatchEvent<T>);
          })
          .on('error', () => undefined)
          .on('close', () => setTimeout(open, 200));
      });
      sent.on('error', () => (stopped ? undefined : setTimeout(open, 200)));
      sent.end();
      cancel = (): void => {
        sent.destroy();
      };
    };
    open();
    return () => {
      stopped = true;
      cancel();
    };
  }

  return {
    get: async <T>(path: string) => JSON.parse(await ask('GET', path)) as T,
    post: async (path, body) => {
      await ask('POST', path, body);
    },
    watch,
  };
}
