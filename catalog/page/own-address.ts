import { isLoopback } from '#shared/config/loopback.ts';
import { isOriginAt, nameOfHost, secureHost } from '#shared/http/own-origin.ts';

/** The address by which the pages are served: the https address of `catalog.public_url`, or this machine's loopback. */
export type OwnAddress = {
  /** Browsers come over https, and keep cookies for this host alone. */
  readonly isSecure: boolean;
  /** Host of the public address; undefined = loopback. */
  readonly publicHost: string | undefined;
};

export function ownAddress(publicUrl: string): OwnAddress {
  const publicHost = secureHost(publicUrl);
  return { isSecure: publicHost !== undefined, publicHost };
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
export function isOwnAddress({ isSecure, publicHost }: OwnAddress, { host, localAddress }: Came): boolean {
  const name = nameOfHost(host);
  if (isSecure) return host?.toLowerCase() === publicHost;
  return name !== undefined && isLoopback(name) && isLoopback(localAddress ?? '');
}

/** Whether a form was sent by one of our own pages: a browser says so of every POST. */
export const isOwnOrigin = ({ isSecure }: OwnAddress, origin: string | undefined, host: string | undefined): boolean =>
  origin !== undefined && isOriginAt(origin, { host, isSecure });
