/** Agent languages, as the vendor writes them. */
const languages = ['ruby', 'java', 'python', 'nodejs', 'go', 'php', 'dotnet'] as const;

// The first seven show what names look like in real accounts: slashes, spaces, brackets, other
// scripts, and two applications of one name.
const firstNames = [
  'Checkout (production)',
  'shop/checkout/api',
  'Billing Service',
  'Größenberater – Zürich',
  'legacy.reports',
  '検索 API',
  'Checkout (production)',
] as const;

const services = [
  'shop-cart',
  'payments',
  'search-index',
  'user-profile',
  'mail worker',
  'stock/levels',
  'pricing',
  'gateway',
] as const;

const healthStatuses = ['green', 'green', 'green', 'orange', 'green', 'unknown', 'red'] as const;

/** The name of the application at `index` (from 0). Unique, but for index 0 and 6. */
export function applicationNameAt(index: number): string {
  const first = firstNames[index];
  if (first !== undefined) return first;
  const service = services[index % services.length] ?? services[0];
  return `${service} ${String(index).padStart(3, '0')}`;
}

export function languageAt(index: number): string {
  return languages[index % languages.length] ?? languages[0];
}

export function healthStatusAt(index: number): string {
  return healthStatuses[index % healthStatuses.length] ?? healthStatuses[0];
}

/** A private address as a host name, such as `ip-10-1-19-12`; unique below 2^24. */
export function hostNameAt(index: number): string {
  return `ip-10-${(index >>> 16) & 255}-${(index >>> 8) & 255}-${index & 255}`;
}
