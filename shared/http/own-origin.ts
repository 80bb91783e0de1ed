/** Both services ask of a request to their pages whether it comes from these pages, and not from those of another site. */

/** The host of a public address that is https; undefined for another address. */
export function secureHost(publicUrl: string): string | undefined {
  const url = URL.canParse(publicUrl) ? new URL(publicUrl) : undefined;
  return url?.protocol === 'https:' ? url.host : undefined;
}

/** The name in a Host header, without its port; undefined for one that is none, or that has credentials before it. */
export function nameOfHost(host: string | undefined): string | undefined {
  if (host === undefined || !URL.canParse(`http://${host}`)) return undefined;
  const { hostname, username, password } = new URL(`http://${host}`);
  return username === '' && password === '' ? hostname.replace(/^\[|\]$/g, '') : undefined;
}

/** Whether an Origin is that of the pages at this host. */
export const isOriginAt = (
  origin: string,
  { host, isSecure }: { readonly host: string | undefined; readonly isSecure: boolean },
): boolean => origin.toLowerCase() === `${isSecure ? 'https' : 'http'}://${host?.toLowerCase() ?? ''}`;
