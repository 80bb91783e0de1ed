import { accessSync, constants } from 'node:fs';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { openChannelSecurity, type ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { hasSecret } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { secretPath } from './secrets.ts';

/**
 * Opens the channel security of a command: uses the configured secret, else that of the cluster in the data directory.
 * @throws UNAUTHENTICATED when there is no secret that this user may read, INVALID_CONFIGURATION
 */
export function operatorSecurity(config: Config): ChannelSecurity {
  if (hasSecret(config)) return openChannelSecurity(config, 'operator', silentLogger);
  const secretFile = ownSecretFile(config.data_dir);
  return openChannelSecurity({ ...config, 'cluster.secret_file': secretFile }, 'operator', silentLogger);
}

/** Path of the secret of the cluster in a data directory. @throws UNAUTHENTICATED when it cannot be read */
export function ownSecretFile(dataDir: string): string {
  const path = secretPath(dataDir, 'cluster-secret');
  try {
    accessSync(path, constants.R_OK);
    return path;
  } catch (cause) {
    const what = (cause as NodeJS.ErrnoException).code === 'ENOENT' ? 'is missing' : 'is not for this user to read';
    throw new SkeinError('UNAUTHENTICATED', `the secret of the cluster in ${dataDir} ${what}`, { cause });
  }
}
