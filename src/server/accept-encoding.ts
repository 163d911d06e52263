const weight = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

interface Coding {
  readonly name: string;
  readonly quality: number;
}

/** One member of the list; `undefined` for one that RFC 9110 does not allow. */
function codingOf(member: string): Coding | undefined {
  const [name = '', ...parameters] = member.split(';').map((part) => part.trim().toLowerCase());
  if (name === '') return undefined;
  const [parameter] = parameters;
  if (parameter === undefined) return { name, quality: 1 };
  const [key, value = ''] = parameter.split('=').map((part) => part.trim());
  if (parameters.length > 1 || key !== 'q' || !weight.test(value)) return undefined;
  return { name, quality: Number(value) };
}

/**
 * Whether an answer should be compressed with gzip, going by the request's `Accept-Encoding`: where
 * gzip is allowed and the client does not like the plain answer better (RFC 9110, section 12.5.3).
 */
export function prefersGzip(acceptEncoding: string | undefined): boolean {
  const qualities = new Map<string, number>();
  for (const member of (acceptEncoding ?? '').split(',')) {
    const coding = codingOf(member);
    if (coding !== undefined) qualities.set(coding.name, coding.quality);
  }
  const others = qualities.get('*') ?? 0;
  const gzip = qualities.get('gzip') ?? qualities.get('x-gzip') ?? others;
  const identity = qualities.get('identity') ?? others;
  return gzip > 0 && gzip >= identity;
}
