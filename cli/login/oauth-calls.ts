import { atLocalhost } from '#shared/config/loopback.ts';
import { SkeinError } from '#shared/error.ts';
import { doorFetch, type DoorTrust } from '../door-fetch.ts';

/** Requests to the services that sign people in. */

const CALL_MS_MAX = 30_000;
const ANSWER_CHARS_MAX = 1_000_000;

/** The addresses of a catalog's sign-in (RFC 8414). */
export type SignInServer = {
  readonly issuer: string;
  readonly authorization_endpoint: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
};

/** A query API, or '' where the catalog was named, and how one signs in there. */
export type Discovered = { readonly queryUrl: string; readonly server: SignInServer };

type Answer = { readonly status: number; readonly body: Readonly<Record<string, unknown>> };

/** @param url a query API, which names its catalog (RFC 9728), or the catalog itself @throws NO_CLUSTER */
export async function discover(url: string, trust: DoorTrust): Promise<Discovered> {
  const at = url.replace(/\/$/, '');
  const { status, body } = await ask(`${at}/.well-known/oauth-protected-resource`, trust);
  // A catalog of this machine names itself by name.
  if (status !== 200) return { queryUrl: '', server: await serverOf(atLocalhost(at), trust) };
  const { resource, authorization_servers: servers } = body;
  if (resource !== at) {
    throw new SkeinError('NO_CLUSTER', `${at} names itself ${String(resource)}: use --url with that address`);
  }
  const catalog = Array.isArray(servers) ? (servers as readonly unknown[])[0] : undefined;
  if (typeof catalog !== 'string') throw new SkeinError('NO_CLUSTER', `${at} names no catalog that signs in`);
  return { queryUrl: at, server: await serverOf(catalog.replace(/\/$/, ''), trust) };
}

async function serverOf(catalog: string, trust: DoorTrust): Promise<SignInServer> {
  const { status, body } = await ask(`${catalog}/.well-known/oauth-authorization-server`, trust);
  if (status !== 200) throw new SkeinError('NO_CLUSTER', `${catalog} is neither a query API nor a catalog`);
  const found = body as Partial<SignInServer>;
  // RFC 8414, 3.3: another one could send the person, or his code, to a place of its own.
  if (found.issuer !== catalog) {
    throw new SkeinError('NO_CLUSTER', `the catalog at ${catalog} names itself ${String(found.issuer)}`);
  }
  const { issuer, authorization_endpoint, token_endpoint, revocation_endpoint } = found;
  const isAt = (text: unknown): text is string => typeof text === 'string' && text.startsWith(`${catalog}/`);
  if (isAt(authorization_endpoint) && isAt(token_endpoint) && isAt(revocation_endpoint)) {
    return { issuer, authorization_endpoint, token_endpoint, revocation_endpoint };
  }
  throw new SkeinError('NO_CLUSTER', `the catalog at ${catalog} does not say where one signs in`);
}

const ask = (url: string, trust: DoorTrust): Promise<Answer> => call(url, trust, undefined);

/** Posts a form. @throws CATALOG_UNAVAILABLE */
export const postForm = (url: string, trust: DoorTrust, form: Readonly<Record<string, string>>): Promise<Answer> =>
  call(url, trust, new URLSearchParams(form).toString());

async function call(url: string, trust: DoorTrust, form: string | undefined): Promise<Answer> {
  try {
    const response = await doorFetch(url, trust, {
      signal: AbortSignal.timeout(CALL_MS_MAX),
      ...(form === undefined
        ? {}
        : {
            method: 'POST',
            headers: {
              'content-type': 'application/x-www-form-urlencoded',
              'content-length': String(Buffer.byteLength(form)),
              'user-agent': 'skein',
            },
            body: form,
          }),
    });
    const text = (await response.text()).slice(0, ANSWER_CHARS_MAX);
    return { status: response.status, body: parsed(text) };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new SkeinError('CATALOG_UNAVAILABLE', `cannot reach ${new URL(url).origin}: ${code ?? message}`, {
      cause: error,
    });
  }
}

function parsed(text: string): Answer['body'] {
  try {
    const body: unknown = JSON.parse(text);
    return typeof body === 'object' && body !== null ? (body as Answer['body']) : {};
  } catch {
    return {};
  }
}
