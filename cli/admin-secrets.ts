import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { parseSecrets } from '#shared/keyring.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { listMembers } from '#shared/membership/list-members.ts';
import { must } from '#shared/must.ts';
import { sealingKeyFile } from '#shared/sealing-keys.ts';
import { newSecret, writeSecrets } from '#shared/secret-file.ts';
import { keyId } from '#shared/signed-text.ts';
import { callCatalog, findTarget } from './catalog-rpc.ts';
import type { Flags } from './command.ts';
import { EXIT, UsageError, type ExitCode } from './exit-code.ts';
import { operatorSecurity } from './operator-security.ts';
import { isOfHosts } from './status.ts';

/** Number of polling intervals after which every catalog of this machine, even a busy one, has read the file again. */
const INTERVALS_TO_HEAR = 3;

/** A catalog process, or whichever answers of the list of a cluster on one machine. */
type Catalog = { readonly name: string; readonly internalUrl: string };
type KeyFile = { readonly path: string; readonly keys: readonly string[]; readonly catalogs: readonly Catalog[] };
type Required = { readonly current: string; readonly accepted?: string };

/**
 * `skein admin secrets rotate`: a new key becomes the first of the file, and all stored secrets are encrypted with it. The key before it
 * stays in the file until the next rotation, for a copy of the database from before; the one before that goes. With `--step`, one step of it,
 * for catalogs on several hosts, which each have a copy of the file: between two steps the operator brings the file to all of them.
 * ```
 *        add                 use                 seal
 * old ────────> old, new ────────> new, old ────────> all secrets are encrypted with new
 * ```
 * Each step asks every catalog for its keys first, and changes nothing unless all have what the step needs: so none stores what another
 * cannot read, and no key goes that something is still encrypted with.
 */
export async function rotateSecretsKey(loaded: LoadedConfig, flags: Flags): Promise<ExitCode> {
  const step = flags.text('step');
  const path = sealingKeyFile(loaded.config);
  const file = { path, keys: parseSecrets(readFileSync(path, 'utf8')), catalogs: await catalogsOf(loaded) };
  if (step !== undefined) {
    if (!isStep(step)) throw new UsageError(`--step: expected one of ${Object.keys(STEPS).join(', ')}`);
    process.stdout.write(`${path}: ${await STEPS[step](loaded, file)}\n`);
    return EXIT.ok;
  }
  const { catalogs } = file;
  if (catalogs.length > 1) throw new UsageError(howTo(path, catalogs));
  process.stdout.write(`${path}: ${await rotate(loaded, file)}\n`);
  return EXIT.ok;
}

const STEPS = { add, use, seal } as const satisfies Record<
  string,
  (loaded: LoadedConfig, file: KeyFile) => Promise<string>
>;
const isStep = (text: string): text is keyof typeof STEPS => Object.hasOwn(STEPS, text);

const howTo = (path: string, catalogs: readonly Catalog[]): string =>
  `${catalogs.length} catalogs run (${catalogs.map(({ name }) => name).join(', ')}), each with its own copy of ${path}. In this order:
  skein admin secrets rotate --step add, then bring the file to every catalog's host
  skein admin secrets rotate --step use, then bring the file to every catalog's host
  skein admin secrets rotate --step seal
Wait for cluster.reload_interval before each next step.`;

async function rotate(loaded: LoadedConfig, { path, keys, catalogs }: KeyFile): Promise<string> {
  const [current, fresh] = [firstOf(keys), newSecret()];
  // Whatever an earlier rotation has left: afterwards the first key has encrypted everything.
  await reseal(loaded, catalogs, current);
  writeSecrets(path, [fresh, current]);
  await sleep(loaded.config['cluster.reload_interval'] * INTERVALS_TO_HEAR);
  return sealed(await reseal(loaded, catalogs, fresh));
}

/** Every catalog accepts the new key from when it has the file. */
async function add(loaded: LoadedConfig, { path, keys, catalogs }: KeyFile): Promise<string> {
  const current = firstOf(keys);
  await requireKeys(loaded, catalogs, { current });
  await reseal(loaded, catalogs, current);
  writeSecrets(path, [current, newSecret(), ...keys.slice(1, 2)]);
  return 'has a new key, which is not used yet: bring the file to every catalog’s host, then --step use';
}

/** A catalog encrypts with the new key from when it has the file; all can read it. */
async function use(loaded: LoadedConfig, { path, keys, catalogs }: KeyFile): Promise<string> {
  const [current, fresh] = [firstOf(keys), keys[1]];
  if (fresh === undefined) throw new UsageError(`${path} has one key: --step add comes first`);
  await requireKeys(loaded, catalogs, { current, accepted: fresh });
  writeSecrets(path, [fresh, current]);
  return 'the new key is the first: bring the file to every catalog’s host, then --step seal';
}

async function seal(loaded: LoadedConfig, { keys, catalogs }: KeyFile): Promise<string> {
  const current = firstOf(keys);
  await requireKeys(loaded, catalogs, { current });
  return sealed(await reseal(loaded, catalogs, current));
}

const sealed = (count: number): string => `${count} secrets are encrypted with a new key; the one before it is kept`;

const firstOf = (keys: readonly string[]): string => must(keys[0], 'parseSecrets finds one at least');

/** @throws INVALID_CONFIGURATION when a catalog lacks one of these keys, CATALOG_UNAVAILABLE when it does not answer */
async function requireKeys(loaded: LoadedConfig, catalogs: readonly Catalog[], keys: Required): Promise<void> {
  for (const catalog of catalogs) await ask(loaded, catalog, keys, { check_only: true });
}

/** Encrypts everything with a key. @returns how many secrets were encrypted with another */
async function reseal(loaded: LoadedConfig, catalogs: readonly Catalog[], current: string): Promise<number> {
  let sum = 0;
  for (const catalog of catalogs) sum += await ask(loaded, catalog, { current }, { check_only: false });
  return sum;
}

async function ask(
  { config }: LoadedConfig,
  { name, internalUrl }: Catalog,
  { current, accepted }: Required,
  options: { readonly check_only: boolean },
): Promise<number> {
  using security = operatorSecurity(config);
  const ids = { current: keyId(current), accepted: accepted === undefined ? '' : keyId(accepted) };
  try {
    return (await callCatalog({ internalUrl, security }, 'ResealSecrets', { ...ids, ...options })).resealed;
  } catch (error) {
    const { code, message } = SkeinError.of(error);
    const hint = code === 'INVALID_CONFIGURATION' ? ': bring it this file, and wait for cluster.reload_interval' : '';
    throw new SkeinError(code, `${name}: ${message}${hint}`, { cause: error });
  }
}

/** The catalogs of a cluster of several hosts, else the one that the command finds. @throws NO_CLUSTER */
async function catalogsOf(loaded: LoadedConfig): Promise<readonly Catalog[]> {
  const { config } = loaded;
  if (!isOfHosts(config)) {
    const { internalUrl } = findTarget(loaded);
    return internalUrl.split(',').map((url) => ({ name: `catalog ${url}`, internalUrl: url }));
  }
  const { members } = await listMembers(config, silentLogger);
  const catalogs = members.filter(({ kind }) => kind === 'catalog');
  if (catalogs.length === 0) throw new SkeinError('NO_CLUSTER', 'no catalog is registered in etcd');
  return catalogs.map(({ name, address, internal }) => ({ name: `catalog ${name}`, internalUrl: internal ?? address }));
}
