import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { s3Storage } from './s3/s3-storage.ts';
import type { StorageCredential } from './credential.ts';
import { filesBelow } from './file-storage.ts';
import { normalizeLocation } from './location.ts';
import type { StorageUse } from './storage-use.ts';
import type { Storage } from './storage.ts';

/** Opens the storage of a location. @throws NOT_SUPPORTED when no storage serves it, INVALID_REQUEST when it is not a location */
export type OpenStorage = (location: string, credential: StorageCredential, use?: StorageUse) => Storage;

export const openStorage: OpenStorage = (location, credential, use) => {
  const normal = normalizeLocation(location);
  switch (credential.kind) {
    case 'file':
      if (normal.startsWith('file:')) return filesBelow(credential.roots);
      throw new SkeinError('NOT_SUPPORTED', `not a local location: ${location}`);
    case 's3':
      if (normal.startsWith('s3:')) return s3Storage(credential, use);
      throw new SkeinError('NOT_SUPPORTED', `not a location in a bucket: ${location}`);
    default:
      return unreachable(credential);
  }
};
