import type { SimulatedApplication, SimulatedHost } from './simulated-application.ts';

/** The host, stopped at `endedMs` and listed for `listedMs` more. */
export function endedHost(host: SimulatedHost, endedMs: number, listedMs: number): SimulatedHost {
  return { ...host, endedMs, listedUntilMs: endedMs + listedMs };
}

/** The application with the hosts added or replaced, without those that stopped too long ago. */
export function withHosts(
  application: SimulatedApplication,
  changed: readonly SimulatedHost[],
  forgottenBeforeMs: number,
): SimulatedApplication {
  const all = new Map(application.hosts);
  for (const host of changed) all.set(host.id, host);
  const kept = [...all.values()].filter(
    (host) => host.endedMs === undefined || host.endedMs >= forgottenBeforeMs,
  );
  return { ...application, hosts: new Map(kept.map((host) => [host.id, host])) };
}

export function runningHosts(application: SimulatedApplication): readonly SimulatedHost[] {
  return [...application.hosts.values()].filter((host) => host.endedMs === undefined);
}

/** The hosts that the vendor's lists show at `nowMs`: none for an application that is silent. */
export function listedHosts(
  application: SimulatedApplication,
  nowMs: number,
): readonly SimulatedHost[] {
  if (application.silentSinceMs !== undefined) return [];
  return [...application.hosts.values()].filter(
    (host) => host.listedUntilMs === undefined || nowMs < host.listedUntilMs,
  );
}

/** Gives the second host of the first application that has one the name of its sibling. */
export function withSharedHostName(
  applications: readonly SimulatedApplication[],
): readonly SimulatedApplication[] {
  const chosen = applications.find((application) => application.hosts.size > 1);
  return applications.map((application) => {
    if (application !== chosen) return application;
    const [first, second] = application.hosts.values();
    if (first === undefined || second === undefined) return application;
    const hosts = new Map(application.hosts).set(second.id, { ...second, name: first.name });
    return { ...application, hosts };
  });
}
