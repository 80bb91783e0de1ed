import { EXPIRY_TOLERANCE_MS } from '#shared/authorization/token-claims.ts';
import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';

/**
 * Lifetime in ms of a token that is issued now: `catalog.token_ttl`, but no longer than the rest of its sign-in, which ends
 * `catalog.refresh_token_ttl` after it began. 0 = the sign-in has ended.
 */
export function lifetimeMs(
  { clock, config }: { readonly clock: Clock; readonly config: Config },
  authenticatedAtMs: number,
): number {
  const endMs = authenticatedAtMs + config['catalog.refresh_token_ttl'] - EXPIRY_TOLERANCE_MS;
  return Math.max(0, Math.min(config['catalog.token_ttl'], endMs - clock.nowMs()));
}
