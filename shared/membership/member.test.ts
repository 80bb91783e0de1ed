import { expect, test } from 'vitest';
import { parseMember } from './member.ts';

const MEMBER = { kind: 'worker', id: '1', name: 'w', address: '127.0.0.1:1' } as const;

test('a member is read as it was written, without what it does not have', () => {
  expect(parseMember(JSON.stringify({ ...MEMBER, extra: 1 }), 'worker')).toEqual(MEMBER);
});

test('a member may have another address for calls of operators', () => {
  const coordinator = { ...MEMBER, kind: 'coordinator', internal: '127.0.0.1:2' } as const;
  expect(parseMember(JSON.stringify(coordinator), 'coordinator')).toEqual(coordinator);
  expect(parseMember(JSON.stringify({ ...coordinator, internal: 2 }), 'coordinator')).not.toHaveProperty('internal');
});

test.each([
  '',
  'no member',
  'null',
  '[]',
  '{}',
  JSON.stringify({ ...MEMBER, kind: 'coordinator' }),
  JSON.stringify({ ...MEMBER, address: 1 }),
  JSON.stringify({ ...MEMBER, id: null }),
])('%j is none', (text) => expect(parseMember(text, 'worker')).toBeUndefined());
