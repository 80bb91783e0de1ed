import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { doorFetch } from '../door-fetch.ts';
import type { Flags } from '../command.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { clientOptions } from './client-options.ts';

const CALL_MS_MAX = 30_000;

type Whoami = {
  readonly username: string;
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly scopes: readonly string[];
  readonly auth_method: string;
  readonly expires_at: string;
};

/** `skein whoami`: the principal with whose rights commands run here. @throws UNAUTHENTICATED, NO_CLUSTER */
export async function whoami(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const { url, trust, token } = clientOptions(loaded, flags);
  const ask = async (fresh: boolean): Promise<Response> =>
    doorFetch(`${url.replace(/\/$/, '')}/api/whoami`, trust, {
      headers: { authorization: `Bearer ${await token(fresh)}` },
      signal: AbortSignal.timeout(CALL_MS_MAX),
    }).catch((error: unknown) => {
      throw new SkeinError('NO_CLUSTER', `cannot reach ${url}: ${(error as Error).message}`, { cause: error });
    });
  let answer = await ask(false);
  if (answer.status === 401) answer = await ask(true);
  const body = await bodyOf(answer);
  const why = body?.message ?? `HTTP status ${answer.status}`;
  if (!answer.ok) throw new SkeinError(answer.status === 401 ? 'UNAUTHENTICATED' : 'NO_CLUSTER', `${url}: ${why}`);
  if (body?.username === undefined) throw new SkeinError('NO_CLUSTER', `${url} is no query API`);
  const { username, tenant, roles, scopes, auth_method, expires_at } = body;
  const shown = { user: username, tenant, roles, scopes, auth_method, expires_at };
  if (flags.has('json')) process.stdout.write(`${JSON.stringify(shown)}\n`);
  else {
    for (const [name, value] of Object.entries(shown)) {
      process.stdout.write(`${name.padEnd(12)} ${Array.isArray(value) ? value.join(' ') : String(value)}\n`);
    }
  }
  return EXIT.ok;
}

/** The JSON of an answer; undefined: a service of another kind has answered. */
async function bodyOf(answer: Response): Promise<(Partial<Whoami> & { readonly message?: string }) | undefined> {
  try {
    const body: unknown = await answer.json();
    return typeof body === 'object' && body !== null ? body : undefined;
  } catch {
    return undefined;
  }
}
