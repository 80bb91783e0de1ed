import type { LookupAddress, LookupOptions, promises as dns } from 'node:dns';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import type { SecureContext } from 'node:tls';
import { callbackify } from 'node:util';
import type { AllowedAddresses } from './allowed-addresses.ts';

/** Bytes of an answer that are read, so that a receiver which writes some is not cut off. None are kept. */
const ANSWER_BYTES_MAX = 4_096;

type Call = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type CallOptions = {
  readonly isAllowed: AllowedAddresses;
  /** Asks DNS. It uses none of the threads that files and passwords need. */
  readonly resolver: Pick<dns.Resolver, 'resolve4' | 'resolve6'>;
  /** The authorities whose certificates are taken. */
  readonly trust: SecureContext;
  /** Longest time of the whole call. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
};

/** The status of the answer, or why there is none, in words that are shown to the tenant. */
export type CallEnd = { readonly status: number } | { readonly problem: string };

/**
 * POSTs to a receiver over a connection of its own. Each address is checked when it is connected to, so that it does not matter what DNS
 * has said before. Redirects are not followed.
 */
export async function callReceiver(call: Call, options: CallOptions): Promise<CallEnd> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    return { status: await post(call, { ...options, signal }) };
  } catch (error) {
    if (options.signal.aborted) throw error;
    return { problem: timeout.aborted ? `no answer within ${options.timeoutMs / 1_000} s` : problemOf(error) };
  }
}

class NoAddress extends Error {}
class AddressRefused extends Error {}

function post(
  { url: text, headers, body }: Call,
  { isAllowed, resolver, trust, signal }: Omit<CallOptions, 'timeoutMs'>,
): Promise<number> {
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
        method: 'POST',
        headers: { ...headers, 'content-length': String(body.length), connection: 'close' },
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
      (answer) => readStatus(answer, resolve),
    );
    sent.on('error', reject);
    sent.end(body);
  });
}

/** The status is known when the head is there; the body is read so far that the receiver can end it. */
function readStatus(answer: IncomingMessage, resolve: (status: number) => void): void {
  let bytes = 0;
  const end = (): void => {
    resolve(answer.statusCode ?? 0);
    answer.destroy();
  };
  answer.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) end();
  });
  for (const event of ['end', 'close', 'error']) answer.on(event, end);
}

/** Gives the connection the addresses of a name that are allowed, and no other. It is asked for all of them (`autoSelectFamily`). */
const allowedOnly = (resolver: CallOptions['resolver'], isAllowed: AllowedAddresses): LookupFunction =>
  callbackify(async (host: string, _options: LookupOptions): Promise<LookupAddress[]> => {
    const found = await addressesOf(resolver, host);
    if (found.length === 0) throw new NoAddress();
    const allowed = found.filter(isAllowed);
    if (allowed.length === 0) throw new AddressRefused();
    return allowed.map((address) => ({ address, family: isIP(address) }));
  });

async function addressesOf(resolver: CallOptions['resolver'], host: string): Promise<readonly string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)]);
  return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
}

/** Faults of connections, by Node's codes. Others are told by their code. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the receiver refuses connections',
  ECONNRESET: 'the receiver has cut the connection',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'the certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'the certificate is of an unknown authority',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'the certificate is of an unknown authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'the certificate is of an unknown authority',
  CERT_HAS_EXPIRED: 'the certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is of another host',
};

function problemOf(error: unknown): string {
  if (error instanceof NoAddress) return 'the name of the host has no address';
  if (error instanceof AddressRefused) return 'the host has no address that is public';
  const { code = 'no connection' } = error as NodeJS.ErrnoException;
  return PROBLEMS[code] ?? `the call failed: ${code}`;
}
