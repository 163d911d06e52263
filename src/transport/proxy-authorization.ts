/** The header that a proxy wants; none when its URL holds no user. */
export function proxyAuthorizationOf(proxy: URL): Readonly<Record<string, string>> {
  if (proxy.username === '') return {};
  const credentials = `${decodeURIComponent(proxy.username)}:${decodeURIComponent(proxy.password)}`;
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` };
}
