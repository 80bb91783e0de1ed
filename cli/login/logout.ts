import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { TERMINAL_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import { findTarget } from '../catalog-rpc.ts';
import { doorTrust } from '../door-fetch.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { findLogin, isSameLogin, loginFile, readLogins, writeLogins } from './login-file.ts';
import { whileLocked } from './login-lock.ts';
import { postForm } from './oauth-calls.ts';

/** `skein logout`: ends the sign-in of `--url`, else the newest one, at every door; this machine forgets it in any case. */
export async function logout(loaded: LoadedConfig): Promise<ExitCode> {
  const { config } = loaded;
  const path = loginFile(config);
  const url = config['client.query_url'] || undefined;
  const login = await whileLocked(path, () => {
    const logins = readLogins(path);
    const found = findLogin(logins, url);
    if (found !== undefined) {
      writeLogins(
        path,
        logins.filter((one) => !isSameLogin(one, found)),
      );
    }
    return Promise.resolve(found);
  });
  if (login === undefined) throw new SkeinError('UNAUTHENTICATED', 'nobody is signed in');
  const form = { token: login.refresh_token, client_id: TERMINAL_CLIENT };
  const { status } = await postForm(login.revocation_endpoint, trustOf(loaded, login.query_url), form);
  if (status !== 200) throw new SkeinError('CATALOG_UNAVAILABLE', `the sign-in was not ended: HTTP status ${status}`);
  process.stdout.write(`signed out ${login.user} of ${login.tenant}\n`);
  return EXIT.ok;
}

/** The cluster of the data directory is trusted by its own certificates. */
export function trustOf(loaded: LoadedConfig, queryUrl: string): ReturnType<typeof doorTrust> {
  try {
    const target = findTarget(loaded);
    if (target.queryUrl === queryUrl) return target.trust;
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
  }
  return doorTrust(loaded.config);
}
