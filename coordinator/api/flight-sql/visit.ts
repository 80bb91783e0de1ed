import type { Metadata } from '@grpc/grpc-js';
import { isOutsideToken } from '#shared/authorization/outside-token.ts';
import { SkeinError } from '#shared/error.ts';
import { forwardedAddress } from '#shared/http/forwarded-address.ts';
import type { Newcomers } from '#shared/newcomers/newcomers.ts';
import { isUuid } from '#shared/id.ts';
import type { Authenticate, Caller } from '../../auth/authenticate.ts';
import type { SignIn } from '../../auth/sign-in.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { SessionServices } from '../../session/session-services.ts';
import type { Connections } from './connections.ts';
import { readBasic } from './read-basic.ts';
import type { SessionEnds } from './session-ends.ts';
import { catalogChange, schemaChange } from '../../session/session-place.ts';

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
const ACCESS_TOKEN_PREFIX = 'skein_pat_';
/** Session of a user who sends Basic, or a personal access token, on every call and no cookie. */
const BASIC_SESSION = 'basic';

/** Stands between a token and the session that Handshake has given with it. */
const SESSION_MARK = '~';

type SignedIn = {
  readonly caller: Caller;
  readonly token: string;
  readonly isBasic: boolean;
  /** The session that the credentials name. */
  readonly session?: string;
};

/** The token that Handshake answers: who signs in twice, even by one token, has two sessions. */
export const sessionToken = (token: string, id: string): string => token + SESSION_MARK + id;
export const sessionCookie = (id: string): string => `${SESSION_COOKIE}=${id}; Path=/; HttpOnly`;

type VisitOptions = {
  readonly authenticate: Authenticate;
  readonly signIn: SignIn;
  readonly sessions: SessionServices;
  readonly connections: Connections;
  readonly newcomers: Pick<Newcomers, 'begin' | 'signedIn'>;
  readonly ends: SessionEnds;
  readonly nowMs: () => number;
  /** `coordinator.trusted_proxies` */
  readonly trustedProxies: readonly string[];
};

/** Finds out who makes a call, and in which session. */
export class Visits {
  readonly #options: VisitOptions;
  /** The callers of calls, by their metadata. */
  readonly #signedIn = new WeakMap<Metadata, Promise<SignedIn>>();

  readonly #forwarded: ReturnType<typeof forwardedAddress>;

  constructor(options: VisitOptions) {
    this.#options = options;
    this.#forwarded = forwardedAddress(options.trustedProxies);
  }

  /** @throws UNAUTHENTICATED, CATALOG_UNAVAILABLE, PAYLOAD_TOO_LARGE */
  async open(call: IncomingCall): Promise<Visit> {
    const arrivedMs = this.#options.nowMs();
    const { caller, session: named, isBasic } = await this.signIn(call);
    const { metadata } = call;
    const { tenant, sub: principal, jti, exp } = caller.claims;
    const cookie = cookieOf(metadata) ?? named;
    const own = { tenant, principal };
    const session: SessionKey =
      cookie !== undefined
        ? { ...own, kind: 'named', id: cookie }
        : isBasic
          ? { ...own, kind: 'named', id: BASIC_SESSION }
          : { ...own, kind: 'token', id: jti };
    this.#options.ends.seen(session, exp);
    await this.#place({ caller, session }, metadata);
    return {
      caller,
      session,
      peer: call.getPeer(),
      source: headerOf(metadata, 'user-agent')?.slice(0, SOURCE_MAX) ?? null,
      traceParent: headerOf(metadata, 'traceparent') ?? null,
      arrivedMs,
    };
  }

  /**
   * Checks the credentials of a call, once; `token` stands for them from now on.
   * @throws UNAUTHENTICATED, PAYLOAD_TOO_LARGE, QUEUE_FULL when the principal has too many connections
   */
  signIn(call: IncomingCall): Promise<SignedIn> {
    const known = this.#signedIn.get(call.metadata);
    if (known !== undefined) return known;
    const signedIn = this.#signInOnce(call);
    this.#signedIn.set(call.metadata, signedIn);
    return signedIn;
  }

  async #signInOnce(call: IncomingCall): Promise<SignedIn> {
    checkHeaders(call.metadata);
    const { connections, newcomers } = this.#options;
    const peer = call.getPeer();
    const end = newcomers.begin(peer);
    try {
      const signedIn = await this.#check(call);
      const { tenant, sub } = signedIn.caller.claims;
      connections.use(peer, JSON.stringify([tenant, sub]));
      newcomers.signedIn(peer);
      return signedIn;
    } finally {
      end();
    }
  }

  async #check(call: IncomingCall): Promise<SignedIn> {
    const { metadata } = call;
    const address = this.#forwarded(addressOf(call.getPeer()), headerOf(metadata, 'x-forwarded-for'));
    const header = headerOf(metadata, 'authorization');
    const [, scheme = '', credentials = ''] = /^(\w+) +(\S+) *$/.exec(header ?? '') ?? [];
    switch (scheme.toLowerCase()) {
      case 'basic': {
        const { user, password } = readBasic(credentials);
        const agent = headerOf(metadata, 'user-agent') ?? null;
        const place = { address, tenant: headerOf(metadata, 'tenant') ?? null, agent };
        return { ...(await this.#options.signIn(user, password, place)), isBasic: true };
      }
      case 'bearer':
        return this.#bearer(credentials, address);
      default:
        throw new SkeinError(
          'UNAUTHENTICATED',
          'sign in: the header authorization must hold Basic with user and password, or Bearer with a token',
        );
    }
  }

  /** A token, or one that Handshake has given, which names a session, too. */
  async #bearer(credentials: string, address: string): Promise<SignedIn> {
    const [token = '', session] = credentials.split(SESSION_MARK, 2);
    const caller = await this.#options.authenticate(`Bearer ${token}`, address);
    // A personal access token, or one of an identity provider, is exchanged for another access token again and again: its session has another name.
    const isBasic = token.startsWith(ACCESS_TOKEN_PREFIX) || isOutsideToken(token);
    return { caller, token, isBasic, ...(session !== undefined && isUuid(session) ? { session } : {}) };
  }

  /** Gives a session the catalog and schema that headers name, as long as it has none. */
  async #place(of: { readonly caller: Caller; readonly session: SessionKey }, metadata: Metadata): Promise<void> {
    const { sessions } = this.#options;
    const [catalog, schema] = [headerOf(metadata, 'catalog'), headerOf(metadata, 'schema')];
    if (catalog !== undefined && sessions.store.get(of.session).catalog === null) {
      sessions.store.update(of.session, await catalogChange(sessions, of, catalog));
    }
    if (schema !== undefined && sessions.store.get(of.session).schema === null) {
      sessions.store.update(of.session, await schemaChange(sessions, of, schema));
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
