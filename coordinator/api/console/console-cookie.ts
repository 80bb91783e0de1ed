/**
 * The cookie of the console. Browsers keep 4 KB of one cookie, and a sealed token may be longer: it is then divided into several, whose
 * names end with their number. Cookies do not know ports: the name has that of the coordinator, so that two on one machine keep apart.
 */

/** Longest value of one cookie, in bytes; name and attributes have the rest of the 4,096. */
const PART_BYTES = 3_800;
/** More parts are no session of ours. */
const PARTS_MAX = 4;

/** @param isSecure the page comes over https: browsers then bind the cookie to this host */
export const cookieName = (port: number, isSecure: boolean): string =>
  `${isSecure ? '__Host-' : ''}skein-console-${port}`;

/** The cookie of a browser that is at the sign-in page of the catalog. */
export const stateCookieName = (port: number, isSecure: boolean): string => `${cookieName(port, isSecure)}-state`;

const attributes = (isSecure: boolean): string => `; Path=/; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** The headers `Set-Cookie` for a value; an empty value takes the cookie away. @throws RangeError for a value that no browser would keep */
export function setCookies(name: string, value: string, { isSecure, maxAgeS }: CookieOptions): readonly string[] {
  if (value.length > PARTS_MAX * PART_BYTES) throw new RangeError('the session is too long for cookies');
  return Array.from({ length: PARTS_MAX }, (_, i) => {
    const part = value.slice(i * PART_BYTES, (i + 1) * PART_BYTES);
    const age = part === '' ? 0 : maxAgeS;
    return `${name}.${i}=${part}; Max-Age=${age}${attributes(isSecure)}`;
  });
}

type CookieOptions = { readonly isSecure: boolean; readonly maxAgeS: number };

/** The value of a cookie that `setCookies` has divided; undefined when the header has none. */
export function readCookie(header: string | undefined, name: string): string | undefined {
  const values = new Map<string, string>();
  for (const pair of (header ?? '').split(';')) {
    const at = pair.indexOf('=');
    if (at > 0) values.set(pair.slice(0, at).trim(), pair.slice(at + 1).trim());
  }
  const parts = Array.from({ length: PARTS_MAX }, (_, i) => values.get(`${name}.${i}`) ?? '');
  const value = parts.join('');
  return value === '' ? undefined : value;
}
