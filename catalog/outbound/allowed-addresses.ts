import { BlockList, isIP } from 'node:net';
import { SkeinError } from '#shared/error.ts';

/**
 * IPv4 networks that are not the public Internet (IANA's registry of special-purpose addresses), multicast and reserved ones, and
 * the address at which Azure's hosts answer their machines, which IANA has as a public one.
 */
const SPECIAL_V4 = `0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24
  192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4`;
/** All public IPv6 addresses lie here, and none in the networks below, which lead to IPv4 addresses or are for protocols and examples. */
const GLOBAL_V6 = '2000::/3';
const SPECIAL_V6 = '2001::/23 2001:db8::/32 2002::/16 3fff::/20';

/** Whether a webhook may lie at an address. */
export type AllowedAddresses = (address: string) => boolean;

/**
 * Allows public addresses, and those of the networks that the operator names: a webhook must not reach what only this machine can reach.
 * @param networks `address/bits` or addresses (`webhook.allowed_networks`) @throws INVALID_CONFIGURATION
 */
export function allowedAddresses(networks: readonly string[]): AllowedAddresses {
  const named = listOf(networks);
  return (address) => isIP(address) !== 0 && (isIn(named, address) || isPublic(address));
}

function isPublic(address: string): boolean {
  return isIP(address) === 4 ? !isIn(NO_V4, address) : isIn(V6, address) && !isIn(NO_V6, address);
}

const isIn = (list: BlockList, address: string): boolean => list.check(address, isIP(address) === 4 ? 'ipv4' : 'ipv6');

function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits, more] = network.split('/');
    const version = isIP(address);
    const most = version === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    const isNetwork = version !== 0 && more === undefined && bits !== '' && Number.isInteger(prefix);
    if (!isNetwork || prefix < 0 || prefix > most) {
      throw new SkeinError(
        'INVALID_CONFIGURATION',
        `webhook.allowed_networks: expected a network such as 10.1.0.0/16, got ${JSON.stringify(network)}`,
      );
    }
    list.addSubnet(address, prefix, version === 4 ? 'ipv4' : 'ipv6');
  }
  return list;
}

const NO_V4 = listOf(SPECIAL_V4.split(/\s+/));
const V6 = listOf([GLOBAL_V6]);
const NO_V6 = listOf(SPECIAL_V6.split(' '));
