import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export type SecretName = 'cluster-secret' | 'postgres-password';

export const secretPath = (dataDir: string, name: SecretName): string => join(dataDir, 'secrets', name);

/** A secret of the cluster, made when it is first asked for; a file of mode 600 in a folder of mode 700. */
export function ensureSecret(dataDir: string, name: SecretName): string {
  const path = secretPath(dataDir, name);
  const found = readSecret(dataDir, name);
  if (found !== undefined) return found;
  mkdirSync(join(dataDir, 'secrets'), { recursive: true, mode: 0o700 });
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, `${randomBytes(32).toString('base64url')}\n`, { mode: 0o600, flush: true });
  try {
    // A link never replaces: two processes that start at once agree on one secret, and nobody reads half of it.
    linkSync(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(temporary, { force: true });
  }
  return readFileSync(path, 'utf8').trim();
}

/** A secret that was made before; undefined when there is none. */
export function readSecret(dataDir: string, name: SecretName): string | undefined {
  try {
    return readFileSync(secretPath(dataDir, name), 'utf8').trim();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
