import { TERMINAL_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import type { DoorTrust } from '../door-fetch.ts';
import { isSameLogin, readLogins, writeLogins, type Login } from './login-file.ts';
import { whileLocked } from './login-lock.ts';
import { postForm } from './oauth-calls.ts';
import { tokensOf } from './token-answer.ts';

/** A token that ends sooner than this is renewed before it is used. */
const LEFT_MIN_MS = 60_000;

/**
 * The access token of a sign-in, from the file in which other commands renew it, too. It is renewed when it is over soon, or when the
 * service has refused the one that was given last. @throws UNAUTHENTICATED when the sign-in is over, CATALOG_UNAVAILABLE
 */
export function loginToken(path: string, login: Login, trust: DoorTrust): (fresh: boolean) => Promise<string> {
  let given: string | undefined;
  const isGood = (now: Login, fresh: boolean): boolean =>
    Date.parse(now.expires_at) > Date.now() + LEFT_MIN_MS && !(fresh && now.access_token === given);
  return async (fresh) => {
    let now = current(path, login);
    if (!isGood(now, fresh)) {
      now = await whileLocked(path, async () => {
        const latest = current(path, login);
        return isGood(latest, fresh) ? latest : renew(path, latest, trust);
      });
    }
    given = now.access_token;
    return given;
  };
}

function current(path: string, login: Login): Login {
  const found = readLogins(path).find((one) => isSameLogin(one, login));
  if (found === undefined) throw new SkeinError('UNAUTHENTICATED', 'signed out: sign in with skein login');
  return found;
}

async function renew(path: string, login: Login, trust: DoorTrust): Promise<Login> {
  const form = { grant_type: 'refresh_token', client_id: TERMINAL_CLIENT, refresh_token: login.refresh_token };
  const answer = await postForm(login.token_endpoint, trust, form);
  try {
    const renewed = { ...login, ...tokensOf(answer, Date.now()) };
    writeLogins(
      path,
      readLogins(path).map((one) => (isSameLogin(one, login) ? renewed : one)),
    );
    return renewed;
  } catch (error) {
    if (SkeinError.of(error).code !== 'UNAUTHENTICATED') throw error;
    throw new SkeinError('UNAUTHENTICATED', 'the sign-in is over: sign in again with skein login', { cause: error });
  }
}
