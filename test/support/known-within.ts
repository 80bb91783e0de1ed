import { patience } from './run/slowness.ts';

/** Every service refuses a revoked token, client or session within a second; on a machine that is half as fast, within two. */
export const KNOWN_WITHIN_MS = patience(1_000);
