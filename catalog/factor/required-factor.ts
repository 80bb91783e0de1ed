import type { Config } from '#shared/config/config-schema.ts';
import { isLoopback } from '#shared/config/loopback.ts';
import type { MfaRequired } from '#shared/config/mfa-required.ts';
import { SkeinError } from '#shared/error.ts';
import type { FactorKind } from '../store/postgres/factor-store.ts';
import { TENANT_ADMIN } from '../store/postgres/principal-store.ts';

/** A user, as far as it decides about factors. */
export type FactorHolder = {
  readonly tenant: string;
  readonly roles: readonly string[];
  readonly factors: readonly FactorKind[];
  /** The rule of his tenant. */
  readonly mfaRequired: MfaRequired;
  readonly isBootstrap: boolean;
};

/** Whether a user must have a second factor: administrators always, others where the configuration or their tenant says so. */
export const mustHaveFactor = (
  config: Pick<Config, 'catalog.mfa_required'>,
  { roles, mfaRequired }: Pick<FactorHolder, 'roles' | 'mfaRequired'>,
): boolean =>
  roles.includes(TENANT_ADMIN) || mfaRequired === 'everyone' || config['catalog.mfa_required'] === 'everyone';

type Door = Pick<Config, 'catalog.mfa_required' | 'internal_host' | 'bootstrap.tenant'>;

/**
 * Refuses the right password of a user at a door that knows no second factor, when he has one or must have one. The first administrator of a
 * cluster on one machine gets in from that machine until he has set one up: else nobody could begin.
 * @param address the client's @throws FACTOR_REQUIRED
 */
export function requireNoFactor(config: Door, user: FactorHolder, address: string): void {
  if (user.factors.length === 0) {
    if (!mustHaveFactor(config, user)) return;
    const isFirst = user.isBootstrap && user.tenant === config['bootstrap.tenant'];
    if (isFirst && isLoopback(config.internal_host) && isLoopback(address)) return;
  }
  throw new SkeinError(
    'FACTOR_REQUIRED',
    'this account signs in with a second factor: use a token in the place of the password, from skein login or a personal access token',
  );
}

/** Begins what a sign-in at an identity provider has shown, before the provider's own words. */
export const AT_PROVIDER = 'sso';
/** A recovery code beside a provider's word; without one it is `mfa`, and no factor by name. Providers do not say this word. */
export const RECOVERY_CODE = 'rc';

/** Whether a sign-in has shown the factor itself; a recovery code is none. A provider's words count where it says that there were several. */
export const hasShown = (amr: readonly string[]): boolean =>
  amr.includes(AT_PROVIDER) ? amr.includes('mfa') : amr.includes('otp') || amr.includes('hwk');

/** How a person has signed in, by what he has shown. */
export const methodOf = (amr: readonly string[]): 'sso' | 'password' =>
  amr.includes(AT_PROVIDER) ? 'sso' : 'password';

/** Whether a sign-in was by password alone, though its user has a factor or must have one since. */
export const lacksFactor = (
  config: Pick<Config, 'catalog.mfa_required'>,
  user: Pick<FactorHolder, 'roles' | 'mfaRequired' | 'factors'>,
  amr: readonly string[],
): boolean => !hasShown(amr) && (user.factors.length > 0 || mustHaveFactor(config, user));

/** Refuses to carry on a sign-in by password alone where its password would be refused now. @throws FACTOR_REQUIRED */
export function requireShownFactor(config: Door, user: FactorHolder, amr: readonly string[], address: string): void {
  if (!hasShown(amr)) requireNoFactor(config, user, address);
}
