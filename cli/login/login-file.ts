import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';

/** A sign-in of `skein login`, as its file keeps it. */
export type Login = {
  /** The query API; empty where the catalog alone was named. */
  readonly query_url: string;
  readonly catalog_url: string;
  readonly token_endpoint: string;
  readonly revocation_endpoint: string;
  readonly tenant: string;
  readonly user: string;
  readonly access_token: string;
  readonly expires_at: string;
  readonly refresh_token: string;
};

/** Reading and writing for others and the group. */
const OPEN_TO_OTHERS = 0o077;

export const loginFile = ({ 'client.login_file': named }: Config): string =>
  named === '' ? join(homedir(), '.config', 'skein', 'login.json') : named;

/** The sign-ins, the newest first. @throws UNAUTHENTICATED when others can read the file, INVALID_CONFIGURATION when it is broken, or cannot be read */
export function readLogins(path: string): readonly Login[] {
  let text: string;
  try {
    if ((statSync(path).mode & OPEN_TO_OTHERS) !== 0 && process.platform !== 'win32') {
      throw new SkeinError('UNAUTHENTICATED', `others can read ${path}: chmod 600 it, or sign in anew`);
    }
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return [];
    if (error instanceof SkeinError) throw error;
    throw new SkeinError('INVALID_CONFIGURATION', `${path} cannot be read: ${code}`, { cause: error });
  }
  try {
    const { logins } = JSON.parse(text) as { readonly logins?: unknown };
    if (Array.isArray(logins) && logins.every(isLogin)) return logins;
  } catch {
    // It is told below.
  }
  throw new SkeinError('INVALID_CONFIGURATION', `${path} is no file of skein login: remove it, and sign in anew`);
}

const TEXTS = [
  'query_url',
  'catalog_url',
  'token_endpoint',
  'revocation_endpoint',
  'tenant',
  'user',
  'access_token',
  'expires_at',
  'refresh_token',
] as const satisfies readonly (keyof Login)[];
const ADDRESSES = ['catalog_url', 'token_endpoint', 'revocation_endpoint'] as const;

/** Whether all is there that a sign-in has. The query API is empty where the catalog alone was named. */
function isLogin(one: unknown): one is Login {
  if (typeof one !== 'object' || one === null) return false;
  const login = one as Login;
  return (
    TEXTS.every((name) => typeof login[name] === 'string') &&
    ADDRESSES.every((name) => URL.canParse(login[name])) &&
    (login.query_url === '' || URL.canParse(login.query_url)) &&
    !Number.isNaN(Date.parse(login.expires_at))
  );
}

/** Writes the sign-ins: a reader sees the old ones or the new, and nobody else any. */
export function writeLogins(path: string, logins: readonly Login[]): void {
  makeFoldersSync(dirname(path), { mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${JSON.stringify({ logins }, null, 2)}\n`, { mode: 0o600, flush: true });
  renameSync(temporary, path);
}

const sameUrl = (one: string, other: string): boolean => one.replace(/\/$/, '') === other.replace(/\/$/, '');

/** The sign-in to a query API or catalog; without an address the newest one. */
export const findLogin = (logins: readonly Login[], url?: string): Login | undefined =>
  url === undefined
    ? logins[0]
    : logins.find(({ query_url: query, catalog_url: catalog }) => sameUrl(query, url) || sameUrl(catalog, url));

export const isSameLogin = (one: Login, other: Login): boolean =>
  one.query_url === other.query_url && one.catalog_url === other.catalog_url;
