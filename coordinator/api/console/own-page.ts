import { isLoopback } from '#shared/config/loopback.ts';
import { isOriginAt, nameOfHost, secureHost } from '#shared/http/own-origin.ts';

/** The header that only our own page can send: a form or a link of another site has no way to. */
export const CONSOLE_HEADER = 'x-skein-console';

/** How a request says from where it comes. */
export type Arrival = {
  readonly host: string | undefined;
  readonly origin: string | undefined;
  /** It came over TLS, or the public address says so. */
  readonly isSecure: boolean;
};

/** Whether a name that a browser was given leads to this coordinator and to nobody else: loopback, or the host of `coordinator.url`. */
export function isOwnHost(host: string | undefined, publicUrl: string): boolean {
  const name = nameOfHost(host);
  if (host === undefined || name === undefined) return false;
  if (name === 'localhost' || isLoopback(name)) return true;
  return isPublic(host, publicUrl);
}

/** Whether the host is that of `coordinator.url`, which has to be https. */
export function isPublic(host: string, publicUrl: string): boolean {
  return secureHost(publicUrl) === host.toLowerCase();
}

/**
 * Whether a request of a page is one of ours. Another site's page that a browser was led to by a name of its own (DNS rebinding) has
 * another Host, one that sends to us has another Origin.
 */
export function isOwnPage({ host, origin, isSecure }: Arrival, publicUrl: string): boolean {
  if (!isOwnHost(host, publicUrl)) return false;
  return origin === undefined || isOriginAt(origin, { host, isSecure });
}
