/** An ended token, client or session is known everywhere within so long. */
export const KNOWN_WITHIN_MS = 1_000;
