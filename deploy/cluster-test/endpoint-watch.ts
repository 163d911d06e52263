import type { EndpointSlice, Kubernetes } from './kubernetes.ts';

/** What happened to a Service's ready addresses since the watch began. */
export interface EndpointWatch {
  /** Seconds from the start until there was one; `undefined`: never yet. */
  firstReady(): number | undefined;
  /** How often none was left after there had been one. */
  losses(): number;
  /** Seconds without any, after the first. */
  secondsWithout(): number;
  readyNow(): boolean;
  stop(): void;
}

/** Watches through the API, so that nothing between two looks is missed. */
export function watchEndpoint(
  kubernetes: Kubernetes,
  namespace: string,
  service: string,
): EndpointWatch {
  const started = performance.now();
  const secondsSince = (start: number): number => (performance.now() - start) / 1000;
  const slices = new Map<string, EndpointSlice>();
  let first: number | undefined;
  let losses = 0;
  let without = 0;
  let lostAt: number | undefined;

  const isReady = (): boolean =>
    [...slices.values()].some(({ endpoints }) =>
      (endpoints ?? []).some(({ conditions }) => conditions.ready === true),
    );
  const look = (): void => {
    const ready = isReady();
    if (ready) {
      first ??= secondsSince(started);
      if (lostAt !== undefined) without += secondsSince(lostAt);
      lostAt = undefined;
    } else if (first !== undefined && lostAt === undefined) {
      losses += 1;
      lostAt = performance.now();
    }
  };
  const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`;
  const stop = kubernetes.watch<EndpointSlice>(path, ({ type, object }) => {
    if (type === 'DELETED') slices.delete(object.metadata.name);
    else slices.set(object.metadata.name, object);
    look();
  });
  return {
    firstReady: () => first,
    losses: () => losses,
    secondsWithout: () => without + (lostAt === undefined ? 0 : secondsSince(lostAt)),
    readyNow: isReady,
    stop,
  };
}
