import type { AccessKey as AccessKeyMessage } from '#proto/generated/skein/catalog/v1/AccessKey.ts';
import type { CheckCatalogReply } from '#proto/generated/skein/catalog/v1/CheckCatalogReply.ts';
import type { CheckCatalogRequest } from '#proto/generated/skein/catalog/v1/CheckCatalogRequest.ts';
import type { BucketSettings } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import { SkeinError } from '#shared/error.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import { normalizeLocation, storeKind } from '#shared/storage/location.ts';
import type { CatalogContext } from '../context.ts';
import { keyOfDocument, type KeyOfFile } from '#shared/storage/key-file.ts';
import {
  givesTableKeys,
  storeNames,
  opensFoldersOnly,
  readStorageSettings,
  settingsWithKey,
  signsForClients,
} from '../metadata/storage-settings.ts';
import { sealedKeys, sealedProfile } from '../storage/sealed-profile.ts';
import { checkBucket, UNSIGNED_COPY, type BucketCheck } from '../storage/check-bucket.ts';
import { findProfile, insertProfile, listProfiles, updateProfile } from '../store/postgres/profile-store.ts';
import { transact } from '../store/postgres/transact.ts';
import type { Tx } from '../store/postgres/tables.ts';

/** The buckets of catalogs, as the operator sets them. */

/** Stores how the bucket of a new catalog is reached. @throws INVALID_REQUEST when its location needs that, or must not have it */
export async function addBucket(
  tx: Tx,
  sealing: SealingKeys,
  catalog: { readonly id: string; readonly roots: readonly string[]; readonly bucket: BucketSettings | null },
): Promise<void> {
  const { id, roots, bucket } = catalog;
  const kinds = new Set(roots.map((root) => storeKind(normalizeLocation(root))));
  if (kinds.size > 1) throw new SkeinError('INVALID_REQUEST', 'the roots of a catalog lie in one kind of storage');
  const [kind] = kinds;
  if (kind === undefined) {
    if (bucket === null) return;
    throw new SkeinError(
      'INVALID_REQUEST',
      'settings of a bucket are for a location in one, such as s3://bucket/prefix',
    );
  }
  if (bucket === null) throw new SkeinError('INVALID_REQUEST', 'a location in a bucket needs its settings (--storage)');
  const settings = readStorageSettings(kind, bucket.settings);
  const profile = { settings, key: keyOf(bucket.key), engineKey: keyOf(bucket.engine_key) };
  await insertProfile(tx, id, sealedProfile(sealing, id, profile));
}

/** Changes how the bucket of a catalog is reached: what is given. @throws INVALID_REQUEST */
export async function changeBucket(
  tx: Tx,
  sealing: SealingKeys,
  { name, bucket }: { readonly name: string; readonly bucket: BucketSettings },
): Promise<void> {
  const profile = await findProfile(tx, name);
  if (profile === undefined) throw new SkeinError('INVALID_REQUEST', `catalog ${name} does not lie in a bucket`);
  const { catalogId } = profile;
  const [key, engineKey] = [keyOf(bucket.key), keyOf(bucket.engine_key)];
  const settings = readStorageSettings(profile.settings.kind, bucket.settings, profile.settings);
  const sealed = sealedKeys(sealing, { catalogId, settings }, { key, engineKey });
  await updateProfile(tx, catalogId, {
    settings: settingsWithKey(settings, key),
    ...(key === null ? {} : { sealedKey: sealed.sealedKey }),
    ...(engineKey === null ? {} : { sealedEngineKey: sealed.sealedEngineKey }),
  });
}

/** @throws INVALID_REQUEST */
function keyOf(message: AccessKeyMessage | null): KeyOfFile | null {
  if (message === null) return null;
  if (message.document !== '') return keyOfDocument(message.document);
  return {
    kind: 's3',
    accessKeyId: message.access_key_id,
    secretAccessKey: message.secret_access_key,
    sessionToken: message.session_token === '' ? null : message.session_token,
  };
}

/** The buckets of catalogs as a list shows them: without secrets. */
export async function bucketsOf({
  store,
}: CatalogContext): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const profiles = await listProfiles(store.db);
  return new Map(
    profiles.map(({ catalog, settings, sealedEngineKey }) => {
      const { endpoint } = settings;
      const keys = givesTableKeys(settings) ? 'temporary' : sealedEngineKey === null ? 'none' : 'of the operator';
      return [catalog, { ...storeNames(settings), endpoint: endpoint ?? '', engine_keys: keys }];
    }),
  );
}

/** Tries the bucket of a catalog. @throws INVALID_REQUEST for a catalog that does not lie in one */
export async function checkCatalog(
  { store, storages }: CatalogContext,
  { name }: CheckCatalogRequest,
): Promise<CheckCatalogReply> {
  const profile = await findProfile(store.db, name);
  if (profile === undefined) throw new SkeinError('INVALID_REQUEST', `catalog ${name} does not lie in a bucket`);
  const { roots, settings, tenant } = profile;
  const isOfFolders = opensFoldersOnly(settings, 1);
  const bucket = { root: roots[0] ?? '', hasTemporaryKeys: givesTableKeys(settings), isOfFolders, tenant };
  const checks = await checkBucket(storages, bucket);
  if (!signsForClients(settings)) return checksReply(checks);
  const refusesUnsignedCopies = checks.find((check) => check.name === UNSIGNED_COPY)?.problem === null;
  if (refusesUnsignedCopies !== (settings.refusesUnsignedCopies ?? false)) {
    const change = { settings: { ...settings, refusesUnsignedCopies } };
    await transact(store.db, async (tx) => {
      // The operator may have changed it while the checks ran.
      if ((await findProfile(tx, name))?.version === profile.version)
        await updateProfile(tx, profile.catalogId, change);
    });
  }
  return checksReply(checks);
}

const checksReply = (checks: readonly BucketCheck[]): CheckCatalogReply => ({
  checks: checks.map((check) => ({ name: check.name, problem: check.problem ?? '' })),
});
