/** New Relic's data centres, with the address of both APIs in each. */
export const regionAddresses = {
  us: 'https://api.newrelic.com',
  eu: 'https://api.eu.newrelic.com',
  jp: 'https://api.jp.newrelic.com',
  gov: 'https://gov-api.newrelic.com',
} as const;

export type Region = keyof typeof regionAddresses;

export const regions: readonly Region[] = ['us', 'eu', 'jp', 'gov'];

/** All regions, for messages. */
export const anyRegion = 'us, eu, jp or gov';

/** The region of New Relic's own address; `undefined` for any other one. */
export function regionOf(baseUrl: string): Region | undefined {
  const address = baseUrl.replace(/\/+$/u, '');
  return regions.find((region) => regionAddresses[region] === address);
}

/** What New Relic says to a key at the address of a region that its account is not in. */
export const otherRegion: RegExp = /not authorized for account region/iu;

export const otherRegionRemedy: string = `The account is in another region of New Relic: set "region" to that of the account (${anyRegion}); without base_url, "newrelic-exporter check-config --online" looks for it`;
