import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { allowedAddresses } from './allowed-addresses.ts';

test.each([
  ['8.8.8.8', true],
  ['1.1.1.1', true],
  ['172.32.0.1', true],
  ['2606:4700:4700::1111', true],
  ['127.0.0.1', false],
  ['127.255.0.9', false],
  ['0.0.0.0', false],
  ['10.0.0.1', false],
  ['100.64.0.1', false],
  ['169.254.169.254', false],
  ['168.63.129.16', false],
  ['168.63.129.17', true],
  ['172.16.0.1', false],
  ['172.31.255.255', false],
  ['192.168.1.1', false],
  ['192.0.0.170', false],
  ['198.19.0.1', false],
  ['224.0.0.1', false],
  ['255.255.255.255', false],
  ['::1', false],
  ['::', false],
  ['::ffff:127.0.0.1', false],
  ['::ffff:8.8.8.8', false],
  ['::8.8.8.8', false],
  ['64:ff9b::7f00:1', false],
  ['2002:7f00:1::', false],
  ['2001:0:7f00:1::', false],
  ['2001:db8::1', false],
  ['fc00::1', false],
  ['fe80::1', false],
  ['ff02::1', false],
  ['fec0::1', false],
  ['localhost', false],
  ['', false],
])('%s is public: %s', (address, isPublic) => {
  expect(allowedAddresses([])(address)).toBe(isPublic);
});

test('networks that the operator names are allowed, too, and nothing beside them', () => {
  const allowed = allowedAddresses(['10.1.0.0/16', '127.0.0.1', 'fd00::/8']);
  for (const address of ['10.1.2.3', '127.0.0.1', '::ffff:10.1.2.3', 'fd12::1', '8.8.8.8']) {
    expect([address, allowed(address)]).toEqual([address, true]);
  }
  for (const address of ['10.2.0.1', '127.0.0.2', 'fe80::1']) {
    expect([address, allowed(address)]).toEqual([address, false]);
  }
});

test.each(['10.0.0.0/33', '10.0.0.0/', '10.0.0.0/8/8', 'intranet', '10.0.0.0/x', '::/129', ''])(
  'the network %j is refused',
  (network) => {
    let code = '';
    try {
      allowedAddresses([network]);
    } catch (error) {
      ({ code } = SkeinError.of(error));
    }
    expect(code).toBe('INVALID_CONFIGURATION');
  },
);
