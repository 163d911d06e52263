import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { optionRules } from './option-rules.ts';

export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
export interface JsonObject {
  readonly [key: string]: Json;
}

/** Values that are passed on as they are: to Kubernetes, or to the operator. */
const freeMaps: ReadonlySet<string> = new Set([
  'affinity',
  'commonLabels',
  'dnsConfig',
  'ingress.annotations',
  'livenessProbe',
  'nodeSelector',
  'podAnnotations',
  'podLabels',
  'podMonitor.basicAuth',
  'podMonitor.labels',
  'podMonitor.tlsConfig',
  'podSecurityContext',
  'prometheusRule.labels',
  'readinessProbe',
  'resources',
  'securityContext',
  'service.annotations',
  'serviceAccount.annotations',
  'serviceMonitor.basicAuth',
  'serviceMonitor.labels',
  'serviceMonitor.tlsConfig',
  'sidecar.resources',
]);

/** As other charts take it: the name alone, or as Kubernetes writes it. */
const pullSecret: JsonObject = {
  anyOf: [
    { type: 'string', minLength: 1 },
    {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: { name: { type: 'string', minLength: 1 } },
    },
  ],
};

/** What a default does not tell of a value. */
const rules: Readonly<Record<string, JsonObject>> = {
  ...optionRules,
  mode: { enum: ['deployment', 'statefulset', 'sidecar', 'none'] },
  replicas: { type: 'integer', minimum: 0 },
  'sharding.mode': { enum: ['none', 'static'] },
  configReload: { enum: ['hot', 'rollout'] },
  'image.digest': { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
  'image.pullPolicy': { enum: ['Always', 'IfNotPresent', 'Never'] },
  'web.scheme': { enum: ['http', 'https'] },
  'web.port': { type: 'integer', minimum: 1, maximum: 65_535 },
  'web.telemetryPath': { type: 'string', pattern: '^(/[A-Za-z0-9_.~-]+)+$' },
  'log.level': { enum: ['debug', 'info', 'warn', 'error'] },
  'log.format': { enum: ['json', 'pretty', 'auto'] },
  'sidecar.native': { enum: ['auto', true, false] },
  'sidecar.portName': { type: 'string', pattern: '^[a-z0-9]([a-z0-9-]{0,13}[a-z0-9])?$' },
  'service.port': { type: 'integer', minimum: 1, maximum: 65_535 },
  'service.type': { enum: ['ClusterIP', 'NodePort', 'LoadBalancer'] },
  'pdb.maxUnavailable': { type: ['integer', 'string'] },
  'image.pullSecrets': { type: 'array', items: pullSecret },
  'global.imagePullSecrets': { type: 'array', items: pullSecret },
  // A null that Helm has not taken away: it takes the chart's own out.
  'sidecar.securityContext': { type: ['object', 'null'] },
  extraArgs: { type: 'array', items: { type: 'string' } },
  accounts: {
    type: 'array',
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1 },
        existingSecret: { type: 'string' },
        existingSecretKey: { type: 'string' },
        value: { type: 'string' },
      },
    },
  },
};

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The schema of the values, from their defaults and from the schema of the configuration file. */
export function valuesSchema(values: JsonObject, config: JsonObject): JsonObject {
  const { properties = {}, ...rest } = schemaOf('', { ...values, config: {} }) as {
    readonly properties?: JsonObject;
  } & JsonObject;
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart newrelic-exporter',
    ...rest,
    // Helm adds to the values of a subchart what its parent's conditions say.
    properties: { ...properties, enabled: { type: 'boolean' }, config: forHelm(config) },
  };
}

function schemaOf(path: string, value: Json): JsonObject {
  const rule = rules[path];
  if (rule !== undefined) return rule;
  if (Array.isArray(value)) return { type: 'array' };
  if (!isObject(value)) return { type: value === null ? 'null' : typeof value };
  if (freeMaps.has(path)) return { type: 'object' };
  return {
    type: 'object',
    additionalProperties: path === 'global',
    properties: Object.fromEntries(
      Object.entries(value).map(([key, child]) => [
        key,
        schemaOf(path === '' ? key : `${path}.${key}`, child),
      ]),
    ),
  };
}

/**
 * The schema of the configuration file as far as Helm can follow it: its regular expressions know no
 * look-ahead, it merges the defaults in, which are empty, and the chart adds the files of the keys,
 * so that there may be none, but still not two.
 */
function forHelm(schema: JsonObject): JsonObject {
  const { $schema: _, title: __, required: ___, ...config } = schema;
  const text = JSON.stringify(config)
    .replaceAll(/"pattern":"([^"]*)\(\?=\[0-9\]\)/gu, '"minLength":1,"pattern":"$1')
    .replaceAll('"format":"regex",', '')
    .replaceAll('"minItems":1,', '');
  const relaxed = JSON.parse(text) as { properties: { accounts: { items: Record<string, Json> } } };
  const { items } = relaxed.properties.accounts;
  items['allOf'] = [{ not: { required: ['api_key_file', 'api_key_env'] } }];
  delete items['oneOf'];
  return relaxed;
}

const root = new URL('../../', import.meta.url);

function readChartFile(path: string): string {
  return readFileSync(new URL(`helm/newrelic-exporter/${path}`, root), 'utf8');
}

export function readValues(): JsonObject {
  return parse(readChartFile('values.yaml')) as JsonObject;
}

export function readConfigSchema(): JsonObject {
  return JSON.parse(readFileSync(new URL('config.schema.json', root), 'utf8')) as JsonObject;
}
