import { createHash, randomBytes } from 'node:crypto';
import { createInterface } from 'node:readline/promises';
import { decodeJwt } from 'jose';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SHOWN_CODE, TERMINAL_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import { findTarget } from '../catalog-rpc.ts';
import type { Flags } from '../command.ts';
import { openBrowser } from '../console.ts';
import { doorTrust, type DoorTrust } from '../door-fetch.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { isSameLogin, loginFile, readLogins, writeLogins, type Login } from './login-file.ts';
import { whileLocked } from './login-lock.ts';
import { waitForCallback } from './loopback-callback.ts';
import { discover, postForm, type Discovered, type SignInServer } from './oauth-calls.ts';
import { tokensOf } from './token-answer.ts';

/**
 * `skein login`: a person signs in by his browser, and the commands of this account use that sign-in. The browser comes back to an address of
 * this machine; with `--no-browser` the page shows a code, which is pasted here.
 */
export async function login(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const { url, trust } = placeOf(loaded);
  const found = await discover(url, trust);
  const tenant = flags.text('tenant');
  const { server } = found;
  const verifier = randomBytes(32).toString('base64url');
  const start: Start = { server, tenant, verifier, state: randomBytes(16).toString('base64url') };
  const { code, redirectUri } = flags.has('no-browser') ? await byPastedCode(start) : await byBrowser(start);
  const answer = await postForm(server.token_endpoint, trust, {
    grant_type: 'authorization_code',
    client_id: TERMINAL_CLIENT,
    redirect_uri: redirectUri,
    code,
    code_verifier: verifier,
  });
  const made = loginOf(found, tokensOf(answer, Date.now()));
  if (tenant !== undefined && made.tenant !== tenant) {
    await postForm(server.revocation_endpoint, trust, { token: made.refresh_token, client_id: TERMINAL_CLIENT });
    throw new SkeinError('UNAUTHENTICATED', `the sign-in was to ${made.tenant}, and not to ${tenant}`);
  }
  const path = loginFile(loaded.config);
  await whileLocked(path, async () => {
    const others = readOrNone(path).filter((one) => !isSameLogin(one, made));
    writeLogins(path, [made, ...others]);
    return Promise.resolve();
  });
  process.stdout.write(`signed in as ${made.user} of ${made.tenant}\n`);
  return EXIT.ok;
}

/** The place that `--url` names, or the cluster of the data directory. @throws NO_CLUSTER */
export function placeOf(loaded: LoadedConfig): { readonly url: string; readonly trust: DoorTrust } {
  const named = loaded.config['client.query_url'];
  if (named !== '') return { url: named, trust: doorTrust(loaded.config) };
  const { queryUrl, trust } = findTarget(loaded);
  return { url: queryUrl, trust };
}

/** A file that others can read, or that is broken, is written anew. */
function readOrNone(path: string): readonly Login[] {
  try {
    return readLogins(path);
  } catch {
    return [];
  }
}

function loginOf({ queryUrl, server }: Discovered, tokens: ReturnType<typeof tokensOf>): Login {
  const { tenant, preferred_username: user } = claimsOf(tokens.access_token);
  return {
    query_url: queryUrl,
    catalog_url: server.issuer,
    token_endpoint: server.token_endpoint,
    revocation_endpoint: server.revocation_endpoint,
    tenant: tenant ?? '',
    user: user ?? '',
    ...tokens,
  };
}

/** @throws UNAUTHENTICATED for what is no token of ours */
function claimsOf(token: string): { readonly tenant?: string; readonly preferred_username?: string } {
  try {
    return decodeJwt(token);
  } catch (cause) {
    throw new SkeinError('UNAUTHENTICATED', 'the catalog has given no token that can be read', { cause });
  }
}

type Start = {
  readonly server: SignInServer;
  readonly tenant: string | undefined;
  readonly verifier: string;
  readonly state: string;
};
type Came = { readonly code: string; readonly redirectUri: string };

function addressOf({ server, tenant, verifier, state }: Start, redirectUri: string): string {
  const url = new URL(server.authorization_endpoint);
  const parameters = {
    response_type: 'code',
    client_id: TERMINAL_CLIENT,
    redirect_uri: redirectUri,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    state,
    ...(tenant === undefined ? {} : { tenant }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

async function byBrowser(start: Start): Promise<Came> {
  const callback = await waitForCallback({ state: start.state, issuer: start.server.issuer });
  try {
    const address = addressOf(start, callback.redirectUri);
    process.stderr.write(`Sign in at this address, which your browser opens now:\n\n  ${address}\n\n`);
    openBrowser(address);
    return { code: await callback.code, redirectUri: callback.redirectUri };
  } finally {
    callback.close();
  }
}

async function byPastedCode(start: Start): Promise<Came> {
  process.stderr.write(`Sign in at this address in any browser:\n\n  ${addressOf(start, SHOWN_CODE)}\n\n`);
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  try {
    // A terminal that is closed, or an input that has ended, gives no line.
    const ended = new Promise<string>((resolve) => void lines.once('close', () => resolve('')));
    const code = (await Promise.race([lines.question('Paste the code that the page shows: '), ended])).trim();
    if (code === '') throw new SkeinError('UNAUTHENTICATED', 'no code was given');
    return { code, redirectUri: SHOWN_CODE };
  } finally {
    lines.close();
  }
}
