import { join } from 'node:path';
import { ensureSecretFile, readSecretFile } from '#shared/secret-file.ts';

export type SecretName = 'cluster-secret' | 'postgres-password';

export const secretPath = (dataDir: string, name: SecretName): string => join(dataDir, 'secrets', name);

/** Returns a secret of the cluster, and creates it on first use. */
export const ensureSecret = (dataDir: string, name: SecretName): string => ensureSecretFile(secretPath(dataDir, name));

/** Returns an existing secret, the one in use when there are several; undefined when there is none. */
export const readSecret = (dataDir: string, name: SecretName): string | undefined =>
  readSecretFile(secretPath(dataDir, name));
