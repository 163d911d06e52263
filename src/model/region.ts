/** New Relic's data centres. */
export const regions = ['us', 'eu', 'jp', 'gov'] as const;
export type Region = (typeof regions)[number];

/** The address of both APIs in each. */
export const regionAddresses: Readonly<Record<Region, string>> = {
  us: 'https://api.newrelic.com',
  eu: 'https://api.eu.newrelic.com',
  jp: 'https://api.jp.newrelic.com',
  gov: 'https://gov-api.newrelic.com',
};

/** All regions, for messages. */
export const anyRegion: string = `${regions.slice(0, -1).join(', ')} or ${regions.at(-1)}`;

/** The region of New Relic's own address; `undefined` for any other one. */
export function regionOf(baseUrl: string): Region | undefined {
  return regions.find((region) => regionAddresses[region] === baseUrl.replace(/\/+$/u, ''));
}

/** What New Relic says to a key at the address of a region that its account is not in. */
export const otherRegion: RegExp = /not authorized for account region/iu;

export const otherRegionRemedy: string = `The account is in another region of New Relic: set "region" to that of the account, ${anyRegion} ("newrelic-exporter check-config --online" looks for it, without base_url)`;
