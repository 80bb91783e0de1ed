import { hash, timingSafeEqual } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WatchedFiles } from '#shared/watched-files.ts';

/**
 * The cluster's secrets. Calls carry the current one, which also signs tickets. A peer that has not seen a rotation yet may send any
 * accepted one. Both values may change between two reads.
 */
export interface Keyring {
  readonly current: string;
  /** All accepted secrets, the current one first. */
  readonly accepted: readonly string[];
}

/** Maximum number of secrets in a file: the one in use, one that is added or removed, and some that an operator has not removed yet. */
const SECRETS_MAX = 8;

/** A keyring that never changes. */
export const fixedKeyring = (current: string): Keyring => ({ current, accepted: [current] });

/** Parses the secrets of a file, one per line, the current one first. @throws INVALID_CONFIGURATION */
export function parseSecrets(text: string): readonly string[] {
  const secrets = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  if (secrets.length === 0) throw new SkeinError('INVALID_CONFIGURATION', 'the file of the cluster’s secret is empty');
  if (secrets.length > SECRETS_MAX) {
    throw new SkeinError(
      'INVALID_CONFIGURATION',
      `more than ${SECRETS_MAX} secrets in the file of the cluster’s secret`,
    );
  }
  // Secrets are sent in an HTTP header.
  if (secrets.some((secret) => !/^[\x21-\x7e]+$/.test(secret))) {
    throw new SkeinError('INVALID_CONFIGURATION', 'a secret of the cluster has characters other than visible ASCII');
  }
  return secrets;
}

export const hasSecret = (config: Config): boolean =>
  config['cluster.secret'] !== '' || config['cluster.secret_file'] !== '';

/**
 * Opens the keyring of `cluster.secret_file`, which it re-reads while the process runs, or of `cluster.secret`. @throws
 * INVALID_CONFIGURATION
 */
export function openKeyring(config: Config, log: Logger): Keyring & Disposable {
  const path = config['cluster.secret_file'];
  if (path === '') {
    const secret = config['cluster.secret'];
    if (secret === '') throw new SkeinError('INVALID_CONFIGURATION', 'cluster.secret is not set');
    return { ...fixedKeyring(secret), [Symbol.dispose]: () => undefined };
  }
  const files = new WatchedFiles({
    paths: [resolve(path)],
    parse: ([content]) => parseSecrets(String(content)),
    intervalMs: config['cluster.reload_interval'],
    log,
  });
  return {
    get current() {
      return files.value[0] ?? '';
    },
    get accepted() {
      return files.value;
    },
    [Symbol.dispose]: () => files[Symbol.dispose](),
  };
}

/** Compares two texts in constant time, even when their lengths differ. */
export function sameText(left: string, right: string): boolean {
  const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
  return timingSafeEqual(digest(left), digest(right));
}
