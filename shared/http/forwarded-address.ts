import type { IncomingMessage } from 'node:http';
import { compile, all } from '@fastify/proxy-addr';

/** Longest `X-Forwarded-For` that is read: it has one address for each proxy on the way. */
const HEADER_LENGTH_MAX = 4_096;

/**
 * The address of a client behind proxies that are believed, as Fastify finds it for HTTP: the last one of `X-Forwarded-For` that is none of
 * theirs; the peer's own when the peer is no such proxy.
 * @param trusted addresses, networks, or `loopback`
 */
export function forwardedAddress(
  trusted: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const isTrusted = compile([...trusted]);
  return (peer, forwardedFor) => {
    if (trusted.length === 0 || forwardedFor === undefined || forwardedFor.length > HEADER_LENGTH_MAX) return peer;
    const request = { headers: { 'x-forwarded-for': forwardedFor }, socket: { remoteAddress: peer } };
    return all(request as unknown as IncomingMessage, isTrusted).at(-1) ?? peer;
  };
}
