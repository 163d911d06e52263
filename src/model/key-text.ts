/** The beginnings of the vendor's keys: those for reading, for sending, and those that it has retired. */
export const keyPrefix = 'NR(?:AK|AA|RA|AL|II|IQ|JS|LIC)-';

/** Everything in a text that looks like a key of the vendor, registered or not. */
export const looksLikeKey: RegExp = new RegExp(`${keyPrefix}[\\w-]+`, 'gi');
