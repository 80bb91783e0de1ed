import { atLocalhost, isLoopback } from './loopback.ts';

/** The client that a terminal is (`skein login`); it has no secret. */
export const TERMINAL_CLIENT = 'skein-cli';
/** In place of a redirect: the page shows the code, and the person takes it to a terminal that no browser can reach. */
export const SHOWN_CODE = 'urn:ietf:wg:oauth:2.0:oob';

/** The client that the console is, each coordinator at its own address. */
export const CONSOLE_CLIENT = 'skein-console';

/**
 * The address by which people sign in to the console of a coordinator, without a slash at its end: `coordinator.url`, where there may be a
 * console (https, or loopback), or else this machine. @param reached an address by which the coordinator is reached
 */
export function consoleBase(publicUrl: string, reached: string): string {
  const url = URL.parse(publicUrl);
  const isServed = url !== null && (url.protocol === 'https:' || isLoopback(url.hostname));
  return atLocalhost(isServed ? url.origin : reached);
}

/** Where the codes of the console go. */
export const consoleRedirect = (base: string): string => `${base}/console/signed-in`;

type SignInRedirect = { readonly clientId: string; readonly address: string };

/** An entry of `catalog.sign_in_redirects`, `<client id>=<address>`; undefined for any other text. */
export function parseRedirect(text: string): SignInRedirect | undefined {
  const [, clientId = '', address = ''] = /^([a-z0-9][a-z0-9-]{0,62})=(\S+)$/.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || clientId === TERMINAL_CLIENT || !/^https?:$/.test(url.protocol)) return undefined;
  return url.hash === '' && url.username === '' && url.password === '' ? { clientId, address } : undefined;
}
