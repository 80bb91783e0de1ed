/** Algorithms by which a service account may sign its assertions (service specification, Authentication 5). */
export const KEY_ALGORITHMS = ['RS256', 'RS512', 'ES256', 'ES384'] as const;
export type KeyAlgorithm = (typeof KEY_ALGORITHMS)[number];
