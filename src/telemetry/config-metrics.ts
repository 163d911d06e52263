import { Gauge, type Registry } from 'prom-client';

/** What became of the configuration file. */
export interface ConfigMetrics {
  /** `wallMs` is the time of the reload, in milliseconds since the epoch. */
  reloaded(succeeded: boolean, wallMs: number): void;
}

export function createConfigMetrics(registry: Registry): ConfigMetrics {
  const successful = new Gauge({
    name: 'newrelic_exporter_config_last_reload_successful',
    help: '1 if the configuration was accepted when it was last read, 0 if it was refused.',
    registers: [registry],
  });
  const successTime = new Gauge({
    name: 'newrelic_exporter_config_last_reload_success_timestamp_seconds',
    help: 'Unix time at which a configuration was last accepted.',
    registers: [registry],
  });
  return {
    reloaded: (succeeded, wallMs) => {
      successful.set(succeeded ? 1 : 0);
      if (succeeded) successTime.set(wallMs / 1000);
    },
  };
}
