import type { Region } from './account-schema.ts';

/** New Relic's own addresses, by region. */
export const officialAddresses: Readonly<Record<Region, string>> = {
  us: 'https://api.newrelic.com',
  eu: 'https://api.eu.newrelic.com',
};

/** The region of New Relic's own address; `undefined` for any other one. */
export function regionOf(baseUrl: string): Region | undefined {
  if (baseUrl === officialAddresses.us) return 'us';
  return baseUrl === officialAddresses.eu ? 'eu' : undefined;
}

/** Whether the text of `base_url` means New Relic's own address, as it does if there is none. */
export function isOfficialAddress(baseUrl: string | undefined): boolean {
  return baseUrl === undefined || regionOf(baseUrl.replace(/\/+$/u, '')) !== undefined;
}
