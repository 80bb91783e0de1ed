import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { fileLocation, isInBucket, normalizeLocation } from '#shared/storage/location.ts';
import { firstEmail } from './principal-statement/check-names.ts';
import { generatePassword, hashPassword } from './principal/password.ts';
import { insertCatalog, insertTenant } from './store/postgres/catalog-store.ts';
import { insertNamespace } from './store/postgres/namespace-store.ts';
import { insertPrincipal, TENANT_ADMIN } from './store/postgres/principal-store.ts';
import type { Database } from './store/postgres/tables.ts';
import { transact } from './store/postgres/transact.ts';

/** The password of the user that the first start creates. Hashing it takes as long as the rest of the start, so it begins early. */
export type FirstUser = {
  readonly passwordHash: Promise<string>;
  /** The generated password, to be printed once; undefined when the configuration sets one. */
  readonly generatedPassword: string | undefined;
};

/** Starts hashing the first user's password, in a thread of its own. */
export function prepareFirstUser(config: Config): FirstUser {
  const configured = config['admin.password'];
  const generatedPassword = configured === '' ? generatePassword() : undefined;
  const passwordHash = hashPassword(generatedPassword ?? configured);
  // The promise is awaited only when the user is really created, so a rejection must not count as unhandled.
  passwordHash.catch(() => undefined);
  return { passwordHash, generatedPassword };
}

/**
 * Creates the configured tenant, catalog, namespace and user in one transaction; returns the root locations of its catalogs. One in a bucket
 * needs a key, which whoever starts the cluster sends afterwards: then there is no catalog yet.
 */
export async function bootstrap(db: Database, config: Config, user: FirstUser): Promise<readonly string[]> {
  const passwordHash = await user.passwordHash;
  const location = bootstrapLocation(config);
  const isBucket = isInBucket(normalizeLocation(location));
  await transact(db, async (tx) => {
    const tenantId = await insertTenant(tx, config['bootstrap.tenant']);
    if (!isBucket) {
      const name = config['bootstrap.catalog'];
      const catalogId = await insertCatalog(tx, { tenantId, name, location, chosenBy: 'operator' });
      await insertNamespace(tx, catalogId, [config['bootstrap.namespace']], {});
    }
    await insertPrincipal(tx, {
      tenantId,
      username: config['admin.user'],
      email: firstEmail(config['admin.user'], config['admin.email']),
      passwordHash,
      roles: [TENANT_ADMIN],
      isBootstrap: true,
    });
  });
  return isBucket ? [] : [location];
}

const bootstrapLocation = (config: Config): string =>
  config['bootstrap.warehouse'] === ''
    ? fileLocation(resolve(config.data_dir, 'warehouse'))
    : config['bootstrap.warehouse'];

/**
 * The root of a new catalog when the request names none. The UUID makes it unique for ever: a catalog that reuses a dropped catalog's name,
 * perhaps for another tenant, does not inherit the files of the old one.
 * @throws INVALID_REQUEST when there are several catalog processes, of which others would not find the folder
 */
export function catalogLocation(config: Config, name: string): string {
  if (config['catalog.internal_url'].length > 1) {
    throw new SkeinError(
      'INVALID_REQUEST',
      'this cluster has several hosts: name the location of the catalog, a folder that all of them share, or a bucket',
    );
  }
  return fileLocation(resolve(config.data_dir, 'catalogs', `${name}-${randomUUID()}`));
}
