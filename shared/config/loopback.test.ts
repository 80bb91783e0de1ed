import { expect, test } from 'vitest';
import { hostOf, isLoopback } from './loopback.ts';

test.each(['127.0.0.1', '127.1.2.3', '::1', '[::1]', 'localhost', 'LOCALHOST', '::ffff:127.0.0.1'])(
  '%s is loopback',
  (host) => expect(isLoopback(host)).toBe(true),
);

test.each([
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  'worker-1',
  '127.0.0.1.example.com',
  'localhost.example.com',
  '127.1',
  '2130706433',
  '::ffff:10.0.0.1',
  '',
])('%s is not', (host) => expect(isLoopback(host)).toBe(false));

test('an address is host:port and nothing else', () => {
  expect(['127.0.0.1:80', '[::1]:80', 'worker-1:8090'].map(hostOf)).toEqual(['127.0.0.1', '[::1]', 'worker-1']);
  for (const wrong of ['dns:///127.0.0.1:80', 'unix:/tmp/x', '127.0.0.1', '::1:80', '127.0.0.1:80/x', 'a@b:1', '']) {
    expect(hostOf(wrong)).toBeUndefined();
  }
});
