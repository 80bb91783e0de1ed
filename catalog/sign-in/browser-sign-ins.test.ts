import { expect, test } from 'vitest';
import { proofOf, withFactor } from './browser-sign-ins.ts';

test.each([
  [['pwd'], undefined, 'recovery code'],
  [['pwd'], 'otp', 'factor'],
  [['sso', 'pwd'], undefined, 'recovery code'],
  [['sso', 'pwd'], 'hwk', 'factor of the provider'],
] as const)('who has shown %j and then %s has shown a %s', (amr, shown, proof) => {
  expect(proofOf({ amr: withFactor(amr, shown) })).toBe(proof);
});
