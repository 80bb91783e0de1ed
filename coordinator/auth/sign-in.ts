import { memoryUses } from '#shared/memory-uses.ts';
import { createHmac, randomBytes } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { isOutsideToken, outsideBearer } from '#shared/authorization/outside-token.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { Authenticate, Caller } from './authenticate.ts';

/** The place from which somebody signs in. */
type SignInPlace = {
  /** Address of the client, without its port. */
  readonly address: string;
  /** The tenant that the client names; null = none. */
  readonly tenant: string | null;
  /** The program, as it names itself. */
  readonly agent?: string | null;
};

/** A user who has signed in, with the access token that stands for it from now on. */
type SignedIn = { readonly caller: Caller; readonly token: string };

/**
 * Signs in by a user and what it shows as its password, for every door that takes them: the password, an access token or a personal access
 * token of that user, a token of an identity provider that is a service account, or, with the id of a client as the user, the secret of the client.
 * @throws WRONG_PASSWORD, TOO_MANY_SIGN_INS, CATALOG_UNAVAILABLE
 */
export type SignIn = (user: string, password: string, place: SignInPlace) => Promise<SignedIn>;

/** A bearer that is a personal access token, not an access token. */
const ACCESS_TOKEN_BEARER = /^Bearer +(skein_pat_\S+)\s*$/i;

/**
 * Takes a personal access token or a token of an identity provider as a bearer, too. It is exchanged for an access token, which is remembered
 * like a right password.
 */
export const withAccessTokens =
  (authenticate: Authenticate, signIn: SignIn): Authenticate =>
  async (authorization, address = '') => {
    const shown = ACCESS_TOKEN_BEARER.exec(authorization ?? '')?.[1] ?? outsideBearer(authorization);
    if (shown === undefined) return authenticate(authorization);
    try {
      return (await signIn('', shown, { address, tenant: null })).caller;
    } catch (error) {
      // A token that nobody here vouches for is refused as a forged one is.
      if (!isOutsideToken(shown) || !(error instanceof SkeinError) || error.code !== 'WRONG_PASSWORD') throw error;
      throw new SkeinError('UNAUTHENTICATED', 'the token is not valid', { cause: error });
    }
  };

/** Time for which a right password is remembered. */
const REMEMBERED_MS = 300_000;
/** Most passwords that are remembered; beyond it the one that was used least recently is checked anew. */
const REMEMBERED_MAX = 10_000;
/** An access token: a JWT, whose first character is always the same. */
const TOKEN = /^ey[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * A password that was right is remembered as a digest under a key of this process, because clients send it with every call and a check takes
 * a quarter of a second. It is forgotten when its token no longer holds: once the principal's session epoch has changed.
 */
export function passwordSignIn(
  authenticate: Authenticate,
  catalog: Pick<CatalogClient, 'signIn'>,
  nowMs: () => number,
): SignIn {
  const key = randomBytes(32);
  const remembered = new LRUCache<string, { readonly token: string; readonly untilMs: number }>({
    max: REMEMBERED_MAX,
  });
  const uses = memoryUses('passwords');
  /** Checks that are under way: who sends many calls at once has one check. */
  const checks = new Map<string, Promise<SignedIn>>();

  const check = async (digest: string, user: string, password: string, place: SignInPlace): Promise<SignedIn> => {
    const { token } = await catalog.signIn({
      user,
      password,
      tenant: place.tenant ?? '',
      address: place.address,
      agent: place.agent ?? '',
    });
    const caller = await authenticate(`Bearer ${token}`);
    // A token of an identity provider is kept as a verified one is: until the token ends that it was exchanged for.
    const untilMs = isOutsideToken(password) ? Number.POSITIVE_INFINITY : nowMs() + REMEMBERED_MS;
    remembered.set(digest, { token, untilMs });
    return { caller, token };
  };

  return async (user, password, place) => {
    if (TOKEN.test(password) && !isOutsideToken(password)) return byToken(authenticate, user, password, place);
    const digest = createHmac('sha256', key)
      .update(JSON.stringify([place.tenant, user, password]))
      .digest('base64');
    const known = uses.of(remembered.get(digest));
    if (known !== undefined && known.untilMs > nowMs()) {
      const caller = await authenticate(`Bearer ${known.token}`).catch(refusedAsNone);
      if (caller !== undefined) return { caller, token: known.token };
    }
    remembered.delete(digest);
    const attempt = `${place.address} ${digest}`;
    const running = checks.get(attempt) ?? check(digest, user, password, place).finally(() => checks.delete(attempt));
    checks.set(attempt, running);
    return running;
  };
}

/** An access token in the place of its user's password. */
async function byToken(
  authenticate: Authenticate,
  user: string,
  token: string,
  { tenant }: SignInPlace,
): Promise<SignedIn> {
  const caller = await authenticate(`Bearer ${token}`);
  const { preferred_username: name, tenant: own } = caller.claims;
  if (name !== user || (tenant !== null && tenant !== own)) {
    throw new SkeinError('WRONG_PASSWORD', 'the token in the place of the password is not one of this user');
  }
  return { caller, token };
}

/** @returns undefined when a token was refused; other errors go on */
function refusedAsNone(error: unknown): undefined {
  if (SkeinError.of(error).code !== 'UNAUTHENTICATED') throw error;
}
