import { createHash, timingSafeEqual } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Logger } from '#shared/log/logger.ts';
import { WatchedFiles } from '#shared/watched-files.ts';

/**
 * The cluster's secrets. The current one is sent with calls and signs tickets; a peer that has not heard of a change yet may send any
 * of the accepted ones. Both may change between two reads.
 */
export interface Keyring {
  readonly current: string;
  /** The current one is the first of them. */
  readonly accepted: readonly string[];
}

/** Secrets that a file may name: one is in use, one comes or goes, and some are left for an operator who is slow to drop them. */
const SECRETS_MAX = 8;

/** A keyring that never changes. */
export const fixedKeyring = (current: string): Keyring => ({ current, accepted: [current] });

/** The secrets of a file, a line each, the current one first. @throws INVALID_CONFIGURATION */
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
  // They travel as an HTTP header.
  if (secrets.some((secret) => !/^[\x21-\x7e]+$/.test(secret))) {
    throw new SkeinError('INVALID_CONFIGURATION', 'a secret of the cluster has characters other than visible ASCII');
  }
  return secrets;
}

export const hasSecret = (config: Config): boolean =>
  config['cluster.secret'] !== '' || config['cluster.secret_file'] !== '';

/** The keyring of `cluster.secret_file`, followed while the process runs, or of `cluster.secret`. @throws INVALID_CONFIGURATION */
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

/** Comparison in constant time, also when the lengths differ. */
export function sameText(left: string, right: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(left), digest(right));
}
