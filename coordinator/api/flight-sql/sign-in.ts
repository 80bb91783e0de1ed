import { SkeinError } from '#shared/error.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';

/** The place from which somebody signs in. */
type SignInPlace = {
  /** Address of the client, without its port. */
  readonly address: string;
  /** The tenant that the client names; null = none. */
  readonly tenant: string | null;
};

/** A user who has signed in, with the token that stands for it from now on. */
type SignedIn = { readonly caller: Caller; readonly token: string };

/** Signs in by user and password, for every door that takes them. @throws UNAUTHENTICATED, with one text for every reason */
export type SignIn = (user: string, password: string, place: SignInPlace) => Promise<SignedIn>;

/** Takes an access token of the user in the place of its password. */
export function tokenSignIn(authenticate: Authenticate): SignIn {
  return async (user, password) => {
    const caller = await authenticate(`Bearer ${password}`).catch((error: unknown) => {
      if (SkeinError.of(error).code === 'UNAUTHENTICATED') throw notSignedIn(error);
      throw error;
    });
    if (caller.claims.preferred_username !== user) throw notSignedIn();
    return { caller, token: password };
  };
}

const notSignedIn = (cause?: unknown): SkeinError =>
  new SkeinError('UNAUTHENTICATED', 'the user or its password is wrong', { cause });

/** User and password of `Basic`; clients pad base64 or not. @throws UNAUTHENTICATED */
export function readBasic(credentials: string): { readonly user: string; readonly password: string } {
  const text = Buffer.from(credentials, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  if (colon === -1) throw new SkeinError('UNAUTHENTICATED', 'the header authorization is not that of Basic');
  return { user: text.slice(0, colon), password: text.slice(colon + 1) };
}
