import { parseDuration } from '#shared/config/parse-setting.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { findTarget, mintToken } from '../catalog-rpc.ts';
import { doorTrust } from '../door-fetch.ts';
import type { Flags } from '../command.ts';
import { UsageError } from '../exit-code.ts';
import { findLogin, loginFile, readLogins } from '../login/login-file.ts';
import { loginToken } from '../login/login-token.ts';
import { trustOf } from '../login/logout.ts';
import { ConnectionError, type ClientOptions } from './query-client.ts';

/**
 * The query API that `--url` and `--token` name, with the sign-in of `skein login` there; or that of the data directory's cluster with a token
 * of its operator; or, where none runs, the newest sign-in.
 */
export function clientOptions(loaded: LoadedConfig, flags: Flags): ClientOptions {
  const given = loaded.config['client.token'];
  const url = loaded.config['client.query_url'];
  const byLogin = given === '' ? loginOptions(loaded, url) : undefined;
  if (byLogin !== undefined) return { ...byLogin, timeoutMs: timeoutOf(flags.text('timeout')) };
  const target = given !== '' && url !== '' ? undefined : findTarget(loaded);
  let minted: Promise<string> | undefined;
  return {
    url: url || (target?.queryUrl ?? ''),
    trust: url === '' && target !== undefined ? target.trust : doorTrust(loaded.config),
    timeoutMs: timeoutOf(flags.text('timeout')),
    token: (fresh) => {
      if (given !== '' || target === undefined) return Promise.resolve(given);
      if (fresh || minted === undefined) minted = mintToken(target);
      return minted;
    },
  };
}

function loginOptions(loaded: LoadedConfig, url: string): Omit<ClientOptions, 'timeoutMs'> | undefined {
  const path = loginFile(loaded.config);
  const own = url === '' ? ownQueryUrl(loaded) : url;
  const login = findLogin(readLogins(path), own);
  if (login === undefined || login.query_url === '') return undefined;
  const trust = trustOf(loaded, login.query_url);
  const renewed = loginToken(path, login, trust);
  const token = async (fresh: boolean): Promise<string> =>
    renewed(fresh).catch((error: unknown) => {
      const { code, message } = SkeinError.of(error);
      throw new ConnectionError(message, { unauthenticated: code === 'UNAUTHENTICATED', cause: error });
    });
  return { url: login.query_url, trust, token };
}

/** The query API of the cluster that runs in the data directory; undefined: none does. */
function ownQueryUrl(loaded: LoadedConfig): string | undefined {
  try {
    return findTarget(loaded).queryUrl;
  } catch (error) {
    if (SkeinError.of(error).code === 'NO_CLUSTER') return undefined;
    throw error;
  }
}

function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  try {
    return parseDuration(text);
  } catch (error) {
    throw new UsageError(`--timeout: ${SkeinError.of(error).message}`);
  }
}
