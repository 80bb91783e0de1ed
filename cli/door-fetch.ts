import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import type { ConnectionOptions } from 'node:tls';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';

/** The authorities whose certificates a command takes from a door, and its own certificate, if the door asks for one. */
export type DoorTrust = Pick<
  ConnectionOptions,
  'ca' | 'cert' | 'key' | 'checkServerIdentity' | 'allowPartialTrustChain'
>;

/**
 * The trust of `client.tls_*`. A cluster that was found in its data directory is trusted by the very certificates that it has there, under
 * any name: whoever can replace them has the cluster.
 * @param certificates paths of these; none: the authorities of `client.tls_ca`, else of the system @throws INVALID_CONFIGURATION
 */
export function doorTrust(config: Config, certificates: readonly string[] = []): DoorTrust {
  const { 'client.tls_ca': ca, 'client.tls_cert': cert, 'client.tls_key': key } = config;
  const own = cert === '' ? {} : { cert: read(cert), key: read(key) };
  if (ca !== '') return { ...own, ca: read(ca) };
  const found = certificates.filter((path) => existsSync(path)).map(read);
  if (found.length === 0) return own;
  return { ...own, ca: found, allowPartialTrustChain: true, checkServerIdentity: () => undefined };
}

function read(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw new SkeinError('INVALID_CONFIGURATION', `cannot read ${path}: ${(cause as NodeJS.ErrnoException).code}`, {
      cause,
    });
  }
}

type Request = {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  readonly body?: string;
};

/** `fetch` of a door, which follows no redirect. */
export async function doorFetch(url: string, trust: DoorTrust, { body, ...options }: Request): Promise<Response> {
  const send = url.startsWith('https:') ? httpsRequest : httpRequest;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    send(url, { ...trust, ...options }, resolve)
      .once('error', reject)
      .end(body);
  });
  const status = answer.statusCode ?? 0;
  const hasBody = status !== 204 && status !== 304;
  if (!hasBody) answer.resume();
  const type = answer.headers['content-type'];
  const headers = type === undefined ? {} : { 'content-type': type };
  return new Response(hasBody ? (Readable.toWeb(answer) as ReadableStream) : null, { status, headers });
}
