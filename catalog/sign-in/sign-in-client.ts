import { parseRedirect, SHOWN_CODE, TERMINAL_CLIENT } from '#shared/config/sign-in-redirect.ts';

const LOOPBACK = /^http:\/\/127\.0\.0\.1:([1-9]\d{0,4})\/callback$/;

/** A client that may sign a person in, and where the code goes. */
export type SignInClient = {
  readonly clientId: string;
  readonly redirectUri: string;
  /** The person is asked: any program on his machine could be behind the address. */
  readonly asks: boolean;
};

/**
 * The client of a request, whose address must be one of its own to the letter; undefined = nobody may be sent there.
 * @param redirects `catalog.sign_in_redirects`
 */
export function signInClient(
  redirects: readonly string[],
  clientId: string,
  redirectUri: string,
): SignInClient | undefined {
  if (clientId === TERMINAL_CLIENT) {
    const port = LOOPBACK.exec(redirectUri)?.[1];
    const isOurs = redirectUri === SHOWN_CODE || (port !== undefined && Number(port) <= 65_535);
    return isOurs ? { clientId, redirectUri, asks: true } : undefined;
  }
  const isListed = redirects.some((text) => {
    const entry = parseRedirect(text);
    return entry?.clientId === clientId && entry.address === redirectUri;
  });
  return isListed ? { clientId, redirectUri, asks: false } : undefined;
}
