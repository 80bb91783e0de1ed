/** The client that a terminal is (`skein login`); it has no secret. */
export const TERMINAL_CLIENT = 'skein-cli';
/** In place of a redirect: the page shows the code, and the person takes it to a terminal that no browser can reach. */
export const SHOWN_CODE = 'urn:ietf:wg:oauth:2.0:oob';

type SignInRedirect = { readonly clientId: string; readonly address: string };

/** An entry of `catalog.sign_in_redirects`, `<client id>=<address>`; undefined for any other text. */
export function parseRedirect(text: string): SignInRedirect | undefined {
  const [, clientId = '', address = ''] = /^([a-z0-9][a-z0-9-]{0,62})=(\S+)$/.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || clientId === TERMINAL_CLIENT || !/^https?:$/.test(url.protocol)) return undefined;
  return url.hash === '' && url.username === '' && url.password === '' ? { clientId, address } : undefined;
}
