import { expect, test } from 'vitest';
import { isOwnHost, isOwnPage } from './own-page.ts';

test.each([
  ['localhost:8080', '', true],
  ['LOCALHOST:8080', '', true],
  ['127.0.0.1:8080', '', true],
  ['[::1]:8080', '', true],
  ['evil.example:8080', '', false],
  ['localhost.evil.example', '', false],
  ['127.0.0.1.evil.example:8080', '', false],
  ['evil@localhost:8080', '', false],
  ['sql.example.com', 'https://sql.example.com', true],
  ['sql.example.com:444', 'https://sql.example.com', false],
  ['sql.example.com', 'http://sql.example.com', false],
  [undefined, 'https://sql.example.com', false],
  ['', '', false],
])('the Host %s with the public address "%s": %s', (host, publicUrl, isOwn) => {
  expect(isOwnHost(host, publicUrl)).toBe(isOwn);
});

test.each([
  [undefined, true],
  ['http://localhost:8080', true],
  ['http://localhost:8081', false],
  ['https://localhost:8080', false],
  ['http://evil.example', false],
  ['null', false],
])('the Origin %s of a request to http://localhost:8080: %s', (origin, isOwn) => {
  expect(isOwnPage({ host: 'localhost:8080', origin, isSecure: false }, '')).toBe(isOwn);
});
