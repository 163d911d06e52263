import { Gauge, type Registry } from 'prom-client';

export interface BuildOptions {
  readonly version: string;
  /** The commit the program was built from. */
  readonly revision: string;
  /** Such as `v24.4.1`. */
  readonly nodeVersion: string;
}

/** Registers what never changes in the life of a process. */
export function registerBuildMetrics(registry: Registry, options: BuildOptions): void {
  const registers = [registry];
  new Gauge({
    name: 'newrelic_exporter_build_info',
    help: 'A constant 1; the labels name the program and the Node.js it runs on.',
    labelNames: ['version', 'revision', 'node_version'],
    registers,
  }).set(
    { version: options.version, revision: options.revision, node_version: options.nodeVersion },
    1,
  );
}
