import type { JsonObject } from './json.ts';

/** What Kubernetes calls names, as patterns without anchors, which Go and JavaScript understand. */
const label = '[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?';
const domain = String.raw`${label}(\.${label})*`;
const qualified = '[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?';
const key = `(${domain}/)?${qualified}`;
/** A prefix of 253 characters, a slash, and a name of 63. */
const keyLength = 317;
const group = '[0-9a-fA-F]{1,4}';
const octet = '(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])';

function text(pattern: string, rest: JsonObject = {}): JsonObject {
  return { type: 'string', pattern: `^${pattern}$`, ...rest };
}

/** The same, or empty. */
function optionalText(pattern: string, rest: JsonObject = {}): JsonObject {
  return text(`(${pattern})?`, rest);
}

/** Of containers, volumes and namespaces. */
export const dnsLabel: JsonObject = text(label);
export const optionalDnsLabel: JsonObject = optionalText(label);
/** Of nearly all objects. */
export const dnsName: JsonObject = text(domain, { maxLength: 253 });
export const optionalDnsName: JsonObject = optionalText(domain, { maxLength: 253 });
/** Of hosts in an Ingress. */
export const hostName: JsonObject = text(String.raw`(\*\.)?${domain}`, { maxLength: 253 });
export const labelKey: JsonObject = text(key, { maxLength: keyLength });
export const optionalLabelKey: JsonObject = optionalText(key, { maxLength: keyLength });
export const labelValue: JsonObject = optionalText(qualified);
/** Of the data of a Secret or ConfigMap. */
export const dataKey: JsonObject = text('[-._a-zA-Z0-9]*[-_a-zA-Z0-9][-._a-zA-Z0-9]*', {
  maxLength: 253,
});
export const environmentName: JsonObject = text('[-._a-zA-Z][-._a-zA-Z0-9]*');
/** Of a port: at least one letter, and no two hyphens together. */
export const portName: JsonObject = text('([a-z0-9]+-)*[a-z0-9]*[a-z][a-z0-9]*(-[a-z0-9]+)*', {
  maxLength: 15,
});
export const portNumber: JsonObject = { type: 'integer', minimum: 1, maximum: 65_535 };
export const portNameOrNumber: JsonObject = {
  ...portName,
  ...portNumber,
  type: ['integer', 'string'],
};
export const ipAddress: JsonObject = {
  type: 'string',
  anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }],
};
export const ipRange: JsonObject = text(
  String.raw`(${octet}(\.${octet}){3}/(3[0-2]|[12]?[0-9])|(${group}(:${group}){7}|(${group}(:${group}){0,5})?::(${group}(:${group}){0,5})?)/(12[0-8]|1[01][0-9]|[1-9]?[0-9]))`,
);
/** As Kubernetes writes amounts of CPU and memory; a number is one too. */
export const quantity: JsonObject = {
  type: ['string', 'number'],
  pattern: String.raw`^\+?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]{1,2})?$`,
  minimum: 0,
};
/** How many pods, or what share of them. */
export const amountOfPods: JsonObject = {
  type: ['integer', 'string'],
  minimum: 0,
  maximum: 2_147_483_647,
  pattern: '^(100|[1-9]?[0-9])%$',
};
/** Below a directory. */
export const relativePath: JsonObject = text(
  String.raw`([^/.][^/]*|\.[^/.][^/]*)(/([^/.][^/]*|\.[^/.][^/]*))*`,
);

/** A map with such keys. (Of "propertyNames" Helm's messages name the wrong value.) */
function mapWith(keys: string, values: JsonObject): JsonObject {
  return { type: 'object', additionalProperties: false, patternProperties: { [keys]: values } };
}

export const labels: JsonObject = mapWith(`^${key}$`, labelValue);
/** Keys of annotations may have capitals in the prefix. */
export const annotations: JsonObject = mapWith(`^${key.replaceAll('a-z', 'A-Za-z')}$`, {
  type: 'string',
});
/** Of what a container may use how much. */
export const amounts: JsonObject = mapWith(
  `^(cpu|memory|ephemeral-storage|${domain}/${qualified})$`,
  quantity,
);
