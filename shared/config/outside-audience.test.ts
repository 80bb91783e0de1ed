import { expect, test } from 'vitest';
import { isAudienceOf, unfitAudience } from './outside-audience.ts';

test('an audience is of the tenant whose name it holds, or to which the operator gives it', () => {
  const allowed = ['acme=api://entra', 'b=https://b.example?x=y'];
  expect(isAudienceOf('acme', 'skein:acme', [])).toBe(true);
  expect(isAudienceOf('acme', 'skein:b', allowed)).toBe(false);
  expect(isAudienceOf('acme', 'skein:acme:x', allowed)).toBe(false);
  expect(isAudienceOf('acme', 'api://entra', allowed)).toBe(true);
  expect(isAudienceOf('b', 'api://entra', allowed)).toBe(false);
  expect(isAudienceOf('b', 'https://b.example?x=y', allowed)).toBe(true);
});

test.each([
  [['a=x', 'b=x'], 'b=x'],
  [['a=skein:b'], 'a=skein:b'],
  [['x'], 'x'],
  [['=x'], '=x'],
  [['a=x', 'a=y'], undefined],
])('of %j the unfit entry is %s', (entries, unfit) => {
  expect(unfitAudience(entries)).toBe(unfit);
});
