import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { isLoopback } from '#shared/config/loopback.ts';
import { isOriginAt, nameOfHost, secureHost } from '#shared/http/own-origin.ts';

/**
 * The address by which the pages are served: the https address of `catalog.public_url`; else, over the catalog's own TLS, the names of its
 * certificate; else this machine's loopback.
 */
export type OwnAddress = {
  /** Browsers come over https, and keep cookies for this host alone. */
  readonly isSecure: boolean;
  /** Host of the public address; undefined = there is none. */
  readonly publicHost: string | undefined;
  /** The certificate that the catalog itself shows, as PEM, which may change; undefined = it has no TLS of its own. */
  readonly certificate: (() => Buffer) | undefined;
};

export function ownAddress(publicUrl: string, certificate?: () => Buffer): OwnAddress {
  const publicHost = secureHost(publicUrl);
  return { isSecure: publicHost !== undefined || certificate !== undefined, publicHost, certificate };
}

/** How a request has come. */
export type Came = {
  readonly host: string | undefined;
  /** The address of ours that it was sent to. */
  readonly localAddress: string | undefined;
};

/**
 * Whether a request has come to the pages' own address. Another name that leads here (DNS rebinding), or a way without https beyond this
 * machine, does not.
 */
export function isOwnAddress({ publicHost, certificate }: OwnAddress, { host, localAddress }: Came): boolean {
  const name = nameOfHost(host);
  if (publicHost !== undefined) return host?.toLowerCase() === publicHost;
  if (name !== undefined && certificate !== undefined) return isNameOf(certificate(), name);
  return name !== undefined && isLoopback(name) && isLoopback(localAddress ?? '');
}

/** Whether a form was sent by one of our own pages: a browser says so of every POST. */
export const isOwnOrigin = ({ isSecure }: OwnAddress, origin: string | undefined, host: string | undefined): boolean =>
  origin !== undefined && isOriginAt(origin, { host, isSecure });

/** Whether a certificate is for a host: a browser asks no other name of it. */
function isNameOf(pem: Buffer, hostname: string): boolean {
  const certificate = new X509Certificate(pem);
  const bare = hostname.replace(/^\[(.*)\]$/, '$1');
  return (isIP(bare) === 0 ? certificate.checkHost(bare) : certificate.checkIP(bare)) !== undefined;
}
