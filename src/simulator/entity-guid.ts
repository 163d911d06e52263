import type { SimulatedApplication } from './simulated-application.ts';

/** The vendor's identity of an application: base64 without padding. */
export function entityGuidOf(accountId: number, application: SimulatedApplication): string {
  const text = `${accountId}|APM|APPLICATION|${application.id}`;
  return Buffer.from(text).toString('base64').replaceAll('=', '');
}
