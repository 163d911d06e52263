/** What a vendor call is for; the value of the metric label `operation`. */
export const operations = [
  'list_applications',
  'list_hosts',
  'application_throughput',
  'host_throughput',
] as const;

export type Operation = (typeof operations)[number];
