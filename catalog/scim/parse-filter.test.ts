import { expect, test } from 'vitest';
import { parseFilter, type Comparison } from './parse-filter.ts';

const ALL = ['id', 'userName', 'externalId', 'emails', 'displayName', 'members'];
const of = (attribute: string, operator: Comparison['operator'], value: string): Comparison => ({
  attribute,
  operator,
  value,
});

test.each([
  ['userName eq "Test_User_dfeef4c5"', [of('userName', 'eq', 'Test_User_dfeef4c5')]],
  ['USERNAME EQ "a"', [of('userName', 'eq', 'a')]],
  ['userName sw "J" and externalId eq "00u1"', [of('userName', 'sw', 'J'), of('externalId', 'eq', '00u1')]],
  ['emails[type eq "work"].value eq "a@b.c"', [of('emails', 'eq', 'a@b.c')]],
  ['emails.value eq "a@b.c"', [of('emails', 'eq', 'a@b.c')]],
  ['displayName eq "a \\"b\\" and c"', [of('displayName', 'eq', 'a "b" and c')]],
  ['id eq "1" and members eq "2"', [of('id', 'eq', '1'), of('members', 'eq', '2')]],
])('%s', (text, comparisons) => {
  expect(parseFilter(text, ALL)).toEqual(comparisons);
});

test.each([
  'userName',
  'userName co "x"',
  'userName eq x',
  'userName eq "x" or id eq "y"',
  'a eq "x"',
  '(userName eq "x")',
  'userName eq "x" and',
  'userName eq "x"\u0000',
  'x'.repeat(3_000),
])('refused: %s', (text) => {
  expect(() => parseFilter(text, ALL)).toThrow(expect.objectContaining({ status: 400, type: 'invalidFilter' }));
});
