/** Every service refuses a revoked token, client or session within this time. */
export const KNOWN_WITHIN_MS = 1_000;
