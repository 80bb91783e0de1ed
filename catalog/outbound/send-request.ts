import type { LookupAddress, LookupOptions, promises as dns } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { callbackify } from 'node:util';
import type { AllowedAddresses } from './allowed-addresses.ts';

/** A request to a server that a tenant has named. */
export type OutboundRequest = {
  readonly method: 'GET' | 'POST';
  /** https */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Buffer;
};

/** The way out, for all that tenants name. */
export type WayOut = {
  readonly isAllowed: AllowedAddresses;
  /** Asks DNS. It uses none of the threads that files and passwords need. */
  readonly resolver: Pick<dns.Resolver, 'resolve4' | 'resolve6'>;
  /** The authorities whose certificates are taken. */
  readonly trust: SecureContext;
  readonly signal: AbortSignal;
};

class NoAddress extends Error {}
class AddressRefused extends Error {}

/**
 * Sends a request over a connection of its own. Each address is checked when it is connected to, so that it does not matter what DNS has
 * said before. Redirects are not followed. @returns the answer, whose body is not read yet
 */
export function sendRequest(
  { method, url: text, headers, body }: OutboundRequest,
  { isAllowed, resolver, trust, signal }: WayOut,
): Promise<IncomingMessage> {
  const url = new URL(text);
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  // An address is connected to without a look-up.
  if (isIP(host) !== 0 && !isAllowed(host)) return Promise.reject(new AddressRefused());
  return new Promise((resolve, reject) => {
    const sent = request(
      {
        protocol: 'https:',
        host,
        port: url.port === '' ? 443 : Number(url.port),
        path: `${url.pathname}${url.search}`,
        method,
        headers: {
          ...headers,
          ...(body === undefined ? {} : { 'content-length': String(body.length) }),
          connection: 'close',
        },
        agent: new Agent({
          keepAlive: false,
          maxCachedSessions: 0,
          autoSelectFamily: true,
          lookup: allowedOnly(resolver, isAllowed),
          secureContext: trust,
          rejectUnauthorized: true,
        }),
        signal,
      },
      resolve,
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** Gives the connection the addresses of a name that are allowed, and no other. It is asked for all of them (`autoSelectFamily`). */
const allowedOnly = (resolver: WayOut['resolver'], isAllowed: AllowedAddresses): LookupFunction =>
  callbackify(async (host: string, _options: LookupOptions): Promise<LookupAddress[]> => {
    const found = await addressesOf(resolver, host);
    if (found.length === 0) throw new NoAddress();
    const allowed = found.filter(isAllowed);
    if (allowed.length === 0) throw new AddressRefused();
    return allowed.map((address) => ({ address, family: isIP(address) }));
  });

async function addressesOf(resolver: WayOut['resolver'], host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Faults of connections, by Node's codes. Others are told by their code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'refuses connections',
  ECONNRESET: 'has cut the connection',
};
const OF_CERTIFICATES: Readonly<Record<string, string>> = {
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is of an unknown authority',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is of another host',
};

/** Why a request got no answer, in words that are shown to the tenant. @param peer the other side, such as `the receiver` */
export function problemOf(error: unknown, peer: string): string {
  if (error instanceof NoAddress) return 'the name of the host has no address';
  if (error instanceof AddressRefused) return 'the host has no address that is public';
  const { code = 'no connection' } = error as NodeJS.ErrnoException;
  const problem = PROBLEMS[code];
  return problem === undefined ? (OF_CERTIFICATES[code] ?? `the call failed: ${code}`) : `${peer} ${problem}`;
}
