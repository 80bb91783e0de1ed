import { expect, test } from 'vitest';
import { forwardedAddress } from './forwarded-address.ts';

test.each([
  // Nobody is believed, or not this peer.
  [[], '10.0.0.1', '1.2.3.4', '10.0.0.1'],
  [['10.0.0.0/8'], '11.0.0.1', '1.2.3.4', '11.0.0.1'],
  [['10.0.0.0/8'], '10.0.0.1', undefined, '10.0.0.1'],
  [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4', '1.2.3.4'],
  // The client may write what it likes before what the proxies add.
  [['10.0.0.0/8'], '10.0.0.1', '6.6.6.6, 1.2.3.4', '1.2.3.4'],
  [['10.0.0.0/8'], '10.0.0.1', '1.2.3.4, 10.0.0.2', '1.2.3.4'],
  [['10.0.0.0/8'], '10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  [['loopback'], '::1', '2001:db8::1', '2001:db8::1'],
  [['loopback'], '::ffff:127.0.0.1', '1.2.3.4', '1.2.3.4'],
  [['loopback'], '127.0.0.1', `${'1.2.3.4, '.repeat(1_000)}5.6.7.8`, '127.0.0.1'],
])('%j believes of %s that %s is behind it: %s', (trusted, peer, forwardedFor, address) => {
  expect(forwardedAddress(trusted)(peer, forwardedFor)).toBe(address);
});

test('an address that is none is no address of a client', () => {
  expect(() => forwardedAddress(['loopback'])('127.0.0.1', 'unknown, x')).not.toThrow();
});
