import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { adlsStorage } from './adls/adls-storage.ts';
import type { StorageCredential } from './credential.ts';
import { filesBelow } from './file-storage.ts';
import { gcsStorage } from './gcs/gcs-storage.ts';
import { normalizeLocation, storeKind } from './location.ts';
import { s3Storage } from './s3/s3-storage.ts';
import type { StorageUse } from './storage-use.ts';
import type { Storage } from './storage.ts';

/** Opens the storage of a location. @throws NOT_SUPPORTED when no storage serves it, INVALID_REQUEST when it is not a location */
export type OpenStorage = (location: string, credential: StorageCredential, use?: StorageUse) => Storage;

export const openStorage: OpenStorage = (location, credential, use) => {
  const normal = normalizeLocation(location);
  if (credential.kind === 'file') {
    if (normal.startsWith('file:')) return filesBelow(credential.roots);
    throw new SkeinError('NOT_SUPPORTED', `not a local location: ${location}`);
  }
  if (storeKind(normal) !== credential.kind) {
    throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket of its key: ${location}`);
  }
  switch (credential.kind) {
    case 's3':
      return s3Storage(credential, use);
    case 'gcs':
      return gcsStorage(credential, use);
    case 'adls':
      return adlsStorage(credential, use);
    default:
      return unreachable(credential);
  }
};
