/** Algorithms by which a service account may sign its assertions (service specification, Authentication 5). */
export type KeyAlgorithm = 'RS256' | 'RS512' | 'ES256' | 'ES384';
