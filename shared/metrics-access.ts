import type { IncomingHttpHeaders } from 'node:http';
import { SkeinError } from '#shared/error.ts';
import { sameText } from '#shared/keyring.ts';

/** A request for `/metrics`: the peer of its connection, and the headers. */
type MetricsRequest = { readonly peer: string | undefined; readonly headers: IncomingHttpHeaders };

type Options = {
  /** `metrics.token`; empty = none. */
  readonly token: string;
  /** Verifies bearer tokens of users; absent in a service that cannot know which of them are revoked. @throws UNAUTHENTICATED */
  readonly verify?: (authorization: string | undefined) => Promise<unknown>;
};

/** Checks a request for `/metrics`. @throws UNAUTHENTICATED */
export type MetricsAccess = (request: MetricsRequest) => Promise<void>;

/**
 * The access rule for `/metrics` of every service: it allows processes of this machine, and callers with `metrics.token` or a user's token.
 * Behind a proxy on this machine every connection comes from loopback, so a request with a header that proxies add counts as remote. A
 * proxy that adds no header cannot be told from a local process: with `metrics.token` set, local callers need a token too.
 */
export function metricsAccess({ token, verify = refuse }: Options): MetricsAccess {
  const isToken = (authorization: string | undefined): boolean =>
    token !== '' && sameText(bearerOf(authorization) ?? '', token);
  return async ({ peer, headers }) => {
    if (isToken(headers.authorization)) return;
    if (token === '' && isLoopback(peer) && !isPassedOn(headers)) return;
    await verify(headers.authorization);
  };
}

const refuse = (): Promise<never> =>
  Promise.reject(new SkeinError('UNAUTHENTICATED', 'metrics.token is needed as a bearer token'));

const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];

const isLoopback = (address: string | undefined): boolean => /^(::ffff:)?127\.|^::1$/.test(address ?? '');

/** Headers that proxies add to a request: RFC 7239, RFC 9110 7.6.3, and others in use. */
const FORWARDING =
  /^(forwarded|via|x-forwarded(-.*)?|x-original-forwarded-for|x-real-ip|x-client-ip|x-cluster-client-ip|x-envoy-.*|true-client-ip|fastly-client-ip|cf-.*)$/;

const isPassedOn = (headers: IncomingHttpHeaders): boolean =>
  Object.keys(headers).some((name) => FORWARDING.test(name));
