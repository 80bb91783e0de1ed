/** Asked to be known within a second; the rest is for a machine that has other work. */
export const KNOWN_WITHIN_MS = 3_000;
