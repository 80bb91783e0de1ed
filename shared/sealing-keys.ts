import { join, resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { parseSecrets, type Keyring } from '#shared/keyring.ts';
import type { Logger } from '#shared/log/logger.ts';
import { isSealedBy, openText, sealText } from '#shared/sealed-text.ts';
import { ensureSecretFile } from '#shared/secret-file.ts';
import { keyId } from '#shared/signed-text.ts';
import { WatchedFiles } from '#shared/watched-files.ts';

/**
 * The keys that encrypt secrets before they are stored: those of buckets, of webhooks. They are in a file and never in the database, so that
 * a copy of the database is worth nothing without it. Only catalog processes open it.
 */
export interface SealingKeys {
  /** Encrypts a secret with the first key; only `open` for the same owner gives it back. */
  seal(secret: string, owner: string): string;
  /** @throws SECRET_UNREADABLE when no key of the file opens it, or it was sealed for another owner */
  open(sealed: string, owner: string): string;
  /** Whether the first key has sealed it. */
  isCurrent(sealed: string): boolean;
  /** The ids of the keys, that of the first key first. */
  ids(): readonly string[];
}

/** The keys of a keyring. */
const sealingKeys = (keyring: Keyring): SealingKeys => ({
  seal: (secret, owner) => sealText(secret, keyring, owner),
  open: (sealed, owner) => {
    const opened = openText(sealed, keyring, owner);
    if ('text' in opened) return opened.text;
    throw new SkeinError('SECRET_UNREADABLE', `a stored secret ${opened.problem}: see cluster.secrets_key_file`);
  },
  isCurrent: (sealed) => isSealedBy(sealed, keyring),
  ids: () => keyring.accepted.map(keyId),
});

/** The file of the keys: `cluster.secrets_key_file`, or that of the data directory. */
export const sealingKeyFile = (config: Pick<Config, 'data_dir' | 'cluster.secrets_key_file'>): string =>
  config['cluster.secrets_key_file'] === ''
    ? resolve(join(config.data_dir, 'secrets', 'secrets-key'))
    : resolve(config['cluster.secrets_key_file']);

/**
 * Opens the keys, which are read again when the file changes. That of the data directory is made at the first start; a file that the
 * configuration names must be there: catalogs on several machines share it.
 * @throws INVALID_CONFIGURATION
 */
export function openSealingKeys(config: Config, log: Logger): SealingKeys & Disposable {
  const path = sealingKeyFile(config);
  if (config['cluster.secrets_key_file'] === '') ensureSecretFile(path);
  const files = new WatchedFiles({
    paths: [path],
    parse: ([content]) => parseSecrets(String(content)),
    intervalMs: config['cluster.reload_interval'],
    log,
  });
  const keys = sealingKeys({
    get current() {
      return files.value[0] ?? '';
    },
    get accepted() {
      return files.value;
    },
  });
  return { ...keys, [Symbol.dispose]: () => files[Symbol.dispose]() };
}
