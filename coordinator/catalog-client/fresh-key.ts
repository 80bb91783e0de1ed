import type { StoreCredential, StorageCredential } from '#shared/storage/credential.ts';
import { RepeatBudget, type StorageUse } from '#shared/storage/storage-use.ts';
import { isReplacedKey } from './replaced-keys.ts';

/** A step of a statement begins with a key that has this much to live, if the store gives such keys. */
const LEFT_MIN_MS = 60_000;

/** The questions for keys of buckets. */
export interface KeyQuestions {
  /** The right to folders, to read or to write there. @throws STORAGE_ERROR, NOT_SUPPORTED, CATALOG_UNAVAILABLE */
  storageKey(tenant: string, folders: readonly string[], permission: 'read' | 'write'): Promise<StorageCredential>;
  /** Another key in place of one that ends soon, or that the store has refused. @throws as `storageKey` */
  renewKey(tenant: string, credential: StoreCredential): Promise<StoreCredential>;
}

/** A key like one that a statement has got, which may have waited or run for long since, or which the store has refused since. @throws STORAGE_ERROR, CATALOG_UNAVAILABLE */
export async function freshKey(
  catalog: KeyQuestions,
  tenant: string,
  key: StorageCredential,
): Promise<StorageCredential> {
  if (key.kind === 'file' || key.reach === undefined) return key;
  const leftMs = (key.expiresAtMs ?? Infinity) - Date.now();
  const { folders, writes } = key.reach;
  return leftMs > LEFT_MIN_MS && !isReplacedKey(key)
    ? key
    : catalog.storageKey(tenant, folders, writes ? 'write' : 'read');
}

/** The signal, keys and repeats that a statement lends to the storages that it opens here. @param repeats those that several of them share */
export const statementUse = (
  catalog: KeyQuestions,
  tenant: string,
  { signal, repeats = new RepeatBudget() }: Pick<StorageUse, 'signal' | 'repeats'> = {},
): StorageUse => ({
  ...(signal === undefined ? {} : { signal }),
  renew: (key) => catalog.renewKey(tenant, key),
  repeats,
});
