/** Hosts as rules compare them: by whole labels, in the form that the URL standard gives them. */

/** The host of a URL, or of text that is one already; undefined where there is none. Lower case, punycode, without a trailing dot. */
export function hostOf(text: string): string | undefined {
  const url = URL.parse(/^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text) ? text : `https://${text}`);
  if (url === null || url.hostname === '') return undefined;
  return url.hostname.toLowerCase().replace(/\.+$/, '');
}

/** `example.com` is that host alone; `*.example.com` any host below it; `*` any host. */
export function hostMatches(host: string, pattern: string): boolean {
  const plain = host.toLowerCase().replace(/\.+$/, '');
  if (pattern === '*') return true;
  if (!pattern.startsWith('*.')) return plain === (hostOf(pattern) ?? pattern.toLowerCase());
  const below = hostOf(pattern.slice(2));
  return below !== undefined && plain.endsWith(`.${below}`);
}
