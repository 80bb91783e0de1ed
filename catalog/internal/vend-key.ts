import type { VendKeyReply } from '#proto/generated/skein/catalog/v1/VendKeyReply.ts';
import type { VendKeyRequest } from '#proto/generated/skein/catalog/v1/VendKeyRequest.ts';
import { toKeyMessage } from '#shared/task/bucket-key.ts';
import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { claimsBeside } from '../store/postgres/folder-claims.ts';
import type { CatalogContext } from '../context.ts';

/** Gives a key that reaches some folders of a catalog. @throws NOT_SUPPORTED, STORAGE_ERROR, INVALID_REQUEST */
export async function vendKey(
  { storages, store }: CatalogContext,
  { folders, writes, tenant, refused_key_id: refused }: VendKeyRequest,
): Promise<VendKeyReply> {
  if (folders.length === 0) throw new SkeinError('INVALID_REQUEST', 'a key is for folders');
  const permission = writes ? 'write' : 'read';
  // A table keeps the folders that it had.
  const all = [...folders, ...(await claimsBeside(store.db, folders.map(normalizeLocation)))];
  const vending = { folders: all, permission, tenant, ...(refused === '' ? {} : { refused }) } as const;
  const credential = await storages.vend(vending);
  return { key: toKeyMessage(credential), file_roots: credential.kind === 'file' ? [...credential.roots] : [] };
}
