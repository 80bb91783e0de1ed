import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { parseSecrets } from '#shared/keyring.ts';
import { sealingKeyFile } from '#shared/sealing-keys.ts';
import { newSecret, writeSecrets } from '#shared/secret-file.ts';
import { callCatalog, findTarget } from './catalog-rpc.ts';
import { EXIT, type ExitCode } from './exit-code.ts';

/** Number of polling intervals after which every catalog of this machine, even a busy one, has read the file again. */
const INTERVALS_TO_HEAR = 3;

/**
 * `skein admin secrets rotate`: a new key becomes the first of the file, and all stored secrets are encrypted with it. The keys before it
 * stay in the file until the next rotation, for a copy of the database from before; the one before them goes.
 */
export async function rotateSecretsKey(loaded: LoadedConfig): Promise<ExitCode> {
  const { config } = loaded;
  const path = sealingKeyFile(config);
  const keys = parseSecrets(readFileSync(path, 'utf8'));
  const target = findTarget(loaded);
  // Whatever an earlier rotation has left: afterwards the first key has encrypted everything.
  await callCatalog(target, 'ResealSecrets', {});
  writeSecrets(path, [newSecret(), ...keys.slice(0, 1)]);
  await sleep(config['cluster.reload_interval'] * INTERVALS_TO_HEAR);
  const { resealed } = await callCatalog(target, 'ResealSecrets', {});
  process.stdout.write(`${path}: ${resealed} secrets are encrypted with a new key; the one before it is kept\n`);
  return EXIT.ok;
}
