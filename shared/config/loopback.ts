import { BlockList, isIP } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/**
 * Whether packets to this host stay on this machine, decided from the text alone: no name is resolved, because an answer of DNS may
 * change between the decision and the connection. `localhost` counts; every other name, and the addresses that mean "any", do not.
 */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  const version = isIP(bare);
  // BlockList also finds 127.0.0.1 in ::ffff:127.0.0.1.
  return version === 0 ? bare === 'localhost' : LOOPBACK.check(bare, version === 4 ? 'ipv4' : 'ipv6');
}

/** Returns the host of `host:port` or `[v6]:port`; undefined for any other form, such as `dns:///name:port`. */
export const hostOf = (address: string): string | undefined =>
  /^(\[[0-9a-f:.]+\]|[^\s:/[\]@?#]+):\d{1,5}$/i.exec(address)?.[1];

/** The same address of this machine by its name: passkeys and cookies know `localhost`, and not an address of loopback. */
export const atLocalhost = (url: string): string => url.replace(/\/\/(127\.0\.0\.1|\[::1\])(?=[:/]|$)/, '//localhost');
