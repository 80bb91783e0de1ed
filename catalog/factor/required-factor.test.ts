import { expect, test } from 'vitest';
import { lacksFactor, requireShownFactor, type FactorHolder } from './required-factor.ts';

const user: FactorHolder = {
  tenant: 'acme',
  roles: [],
  factors: [],
  mfaRequired: 'administrators',
  isBootstrap: false,
};
const config = (required: 'administrators' | 'everyone') => ({
  'catalog.mfa_required': required,
  internal_host: '127.0.0.1',
  'bootstrap.tenant': 'acme',
});

test('a sign-in by password alone is not carried on once the configuration requires a factor', () => {
  expect(lacksFactor(config('administrators'), user, ['pwd'])).toBe(false);
  expect(lacksFactor(config('everyone'), user, ['pwd'])).toBe(true);
  expect(lacksFactor(config('everyone'), user, ['pwd', 'mfa'])).toBe(true);
  expect(lacksFactor(config('everyone'), user, ['pwd', 'otp', 'mfa'])).toBe(false);
  const carryOn = (amr: readonly string[]) => () => requireShownFactor(config('everyone'), user, amr, '127.0.0.1');
  expect(carryOn(['pwd'])).toThrow(expect.objectContaining({ code: 'FACTOR_REQUIRED' }));
  expect(carryOn(['pwd', 'hwk', 'mfa'])).not.toThrow();
  const first = { ...user, isBootstrap: true };
  expect(() => requireShownFactor(config('everyone'), first, ['pwd'], '127.0.0.1')).not.toThrow();
  expect(() => requireShownFactor(config('everyone'), first, ['pwd'], '10.0.0.1')).toThrow();
});
