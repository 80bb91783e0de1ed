import type { StorageCredential } from '#shared/storage/credential.ts';
import { RepeatBudget, type StorageUse } from '#shared/storage/storage-use.ts';
import type { CatalogClient } from './catalog-client.ts';

/** A step of a statement begins with a key that has this much to live, if the store gives such keys. */
const LEFT_MIN_MS = 60_000;

type Keys = Pick<CatalogClient, 'renewKey' | 'storageKey'>;

/** A key like one that a statement has got, which may have waited or run for long since. @throws STORAGE_ERROR, CATALOG_UNAVAILABLE */
export async function freshKey(catalog: Keys, tenant: string, key: StorageCredential): Promise<StorageCredential> {
  if (key.kind === 'none' || key.reach === undefined) return key;
  const leftMs = (key.expiresAtMs ?? Infinity) - Date.now();
  const { folders, writes } = key.reach;
  return leftMs > LEFT_MIN_MS ? key : catalog.storageKey(tenant, folders, writes ? 'write' : 'read');
}

/** The signal, keys and repeats that a statement lends to the storages that it opens here. */
export const statementUse = (catalog: Keys, tenant: string, signal?: AbortSignal): StorageUse => ({
  ...(signal === undefined ? {} : { signal }),
  renew: (key) => catalog.renewKey(tenant, key),
  repeats: new RepeatBudget(),
});
