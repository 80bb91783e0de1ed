import { describe, expect, test } from 'vitest';
import { followed, leavesState } from './following.ts';

test.each([
  'SELECT 1',
  '-- SET x\nselect 1',
  '/* a */ /* b */ INSERT INTO t VALUES (1)',
  ' with a as (select 1) from a',
])('%j leaves nothing in the session', (sql) => expect(leavesState(sql)).toBe(false));

test.each([
  "SET skein.distribution = 'single'",
  'USE lake.x',
  'BEGIN',
  'PREPARE a AS SELECT 1',
  '-- SELECT',
  '/* SELECT',
  '',
])('%j may leave something', (sql) => expect(leavesState(sql)).toBe(true));

describe('the address of the leader', () => {
  test.each([
    ['http://a:1', 'http://b:2', 'http://b:2'],
    ['http://a:1', 'https://b:2/', 'https://b:2'],
    ['https://a:1', 'https://b:2', 'https://b:2'],
    ['https://a:1', 'http://b:2', undefined],
    ['http://a:1', 'http://a:1/', undefined],
    ['http://a:1', 'file:///etc/passwd', undefined],
    ['http://a:1', 'no address', undefined],
    ['http://a:1', undefined, undefined],
  ])('from %s to %s', (url, leader, expected) => expect(followed(url, leader)).toBe(expected));
});
