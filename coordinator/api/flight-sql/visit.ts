import type { Metadata } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import { isUuid } from '#shared/id.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import type { SignIn } from '../../auth/sign-in.ts';
import type { SessionKey } from '../../session/session-store.ts';
import { readBasic } from './read-basic.ts';

/** The part of a call that tells who makes it. */
export type IncomingCall = { readonly metadata: Metadata; getPeer(): string };

/** One call of a client: who makes it, in which session, from where. */
export type Visit = {
  readonly caller: Caller;
  readonly session: SessionKey;
  /** Address and port of the connection. */
  readonly peer: string;
  /** The user-agent, which routing rules match as the source of its statements. */
  readonly source: string | null;
  readonly traceParent: string | null;
  /** Arrival of the call, in ms of the process's monotonic clock. */
  readonly arrivedMs: number;
};

/** The cookie that names a session. */
const SESSION_COOKIE = 'skein-session';
/** Longest headers of a call in bytes. */
const HEADER_BYTES_MAX = 64 * 1024;
/** Longest source that is kept. */
const SOURCE_MAX = 200;
/** Session of a user who sends Basic on every call and no cookie. */
const BASIC_SESSION = 'basic';

export const sessionCookie = (id: string): string => `${SESSION_COOKIE}=${id}; Path=/; HttpOnly`;

/** Finds out who makes a call. */
export class Visits {
  readonly #authenticate: Authenticate;
  readonly #signIn: SignIn;
  readonly #nowMs: () => number;

  constructor(options: { readonly authenticate: Authenticate; readonly signIn: SignIn; readonly nowMs: () => number }) {
    this.#authenticate = options.authenticate;
    this.#signIn = options.signIn;
    this.#nowMs = options.nowMs;
  }

  /** @throws UNAUTHENTICATED, CATALOG_UNAVAILABLE, PAYLOAD_TOO_LARGE */
  async open(call: IncomingCall): Promise<Visit> {
    const arrivedMs = this.#nowMs();
    const { caller, isBasic } = await this.signIn(call);
    const { metadata } = call;
    const { tenant, sub: principal, jti } = caller.claims;
    const cookie = cookieOf(metadata);
    const own = { tenant, principal };
    const session: SessionKey =
      cookie !== undefined
        ? { ...own, kind: 'named', id: cookie }
        : isBasic
          ? { ...own, kind: 'named', id: BASIC_SESSION }
          : { ...own, kind: 'token', id: jti };
    return {
      caller,
      session,
      peer: call.getPeer(),
      source: headerOf(metadata, 'user-agent')?.slice(0, SOURCE_MAX) ?? null,
      traceParent: headerOf(metadata, 'traceparent') ?? null,
      arrivedMs,
    };
  }

  /** Checks the credentials of a call; `token` stands for them from now on. @throws UNAUTHENTICATED, PAYLOAD_TOO_LARGE */
  async signIn(call: IncomingCall): Promise<{ caller: Caller; token: string; isBasic: boolean }> {
    const { metadata } = call;
    checkHeaders(metadata);
    const header = headerOf(metadata, 'authorization');
    const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(header ?? '') ?? [];
    switch (scheme.toLowerCase()) {
      case 'basic': {
        const { user, password } = readBasic(credentials);
        const place = { address: addressOf(call.getPeer()), tenant: headerOf(metadata, 'tenant') ?? null };
        return { ...(await this.#signIn(user, password, place)), isBasic: true };
      }
      case 'bearer':
        return { caller: await this.#authenticate(`Bearer ${credentials}`), token: credentials, isBasic: false };
      default:
        throw new SkeinError(
          'UNAUTHENTICATED',
          'sign in: the header authorization must hold Basic with user and password, or Bearer with a token',
        );
    }
  }
}

/** @throws PAYLOAD_TOO_LARGE */
function checkHeaders(metadata: Metadata): void {
  const bytes = Object.entries(metadata.getMap()).reduce((sum, [name, value]) => sum + name.length + value.length, 0);
  if (bytes > HEADER_BYTES_MAX) {
    throw new SkeinError('PAYLOAD_TOO_LARGE', `the headers of a call have at most ${HEADER_BYTES_MAX} bytes`);
  }
}

function headerOf(metadata: Metadata, name: string): string | undefined {
  const [value] = metadata.get(name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The session that a cookie names; the ids are those that this door has given. */
function cookieOf(metadata: Metadata): string | undefined {
  return metadata
    .get('cookie')
    .flatMap((header) => String(header).split(';'))
    .map((pair) => pair.trim().split('='))
    .find(([name, value]) => name === SESSION_COOKIE && value !== undefined && isUuid(value))?.[1];
}

/** `10.0.0.1:5000` and `[::1]:5000` -> the address. */
const addressOf = (peer: string): string => peer.slice(0, peer.lastIndexOf(':')).replaceAll(/^\[|\]$/g, '');
