import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import type { Config } from '#shared/config/config-schema.ts';
import { fileLocation } from '#shared/storage/location.ts';
import { generatePassword, hashPassword } from './principal/password.ts';
import { insertCatalog, insertTenant } from './store/postgres/catalog-store.ts';
import { insertNamespace } from './store/postgres/namespace-store.ts';
import { insertPrincipal, TENANT_ADMIN } from './store/postgres/principal-store.ts';
import type { Database } from './store/postgres/tables.ts';
import { transact } from './store/postgres/transact.ts';

/** What the first start makes; the password of its user is known before it is needed, because hashing it takes as long as all the rest. */
export type FirstUser = {
  readonly passwordHash: Promise<string>;
  /** Set when the configuration has none: to be printed once. */
  readonly generatedPassword: string | undefined;
};

/** Begins to hash the first user's password, in a thread of its own. */
export function prepareFirstUser(config: Config): FirstUser {
  const configured = config['admin.password'];
  const generatedPassword = configured === '' ? generatePassword() : undefined;
  const passwordHash = hashPassword(generatedPassword ?? configured);
  // Awaited only when the user is really made.
  passwordHash.catch(() => undefined);
  return { passwordHash, generatedPassword };
}

/** Whether the first start has been. */
export async function isBootstrapped(db: Database): Promise<boolean> {
  return (await db.selectFrom('tenant').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Makes tenant, catalog, namespace and user of the configuration, all or nothing; the root of the catalog. */
export async function bootstrap(db: Database, config: Config, user: FirstUser): Promise<string> {
  const passwordHash = await user.passwordHash;
  const location = bootstrapLocation(config);
  await transact(db, async (tx) => {
    const tenantId = await insertTenant(tx, config['bootstrap.tenant']);
    const catalogId = await insertCatalog(tx, {
      tenantId,
      name: config['bootstrap.catalog'],
      location,
      chosenBy: 'operator',
    });
    await insertNamespace(tx, catalogId, [config['bootstrap.namespace']], {});
    await insertPrincipal(tx, {
      tenantId,
      username: config['admin.user'],
      passwordHash,
      roles: [TENANT_ADMIN],
      isBootstrap: true,
    });
  });
  return location;
}

const bootstrapLocation = (config: Config): string =>
  config['bootstrap.warehouse'] === ''
    ? fileLocation(resolve(config.data_dir, 'warehouse'))
    : config['bootstrap.warehouse'];

/**
 * Root of a new catalog for which nobody named one. No catalog had it before or will have it: a name that comes again, perhaps with another
 * tenant, does not come with the files of the one that was dropped.
 */
export const catalogLocation = (config: Config, name: string): string =>
  fileLocation(resolve(config.data_dir, 'catalogs', `${name}-${randomUUID()}`));
