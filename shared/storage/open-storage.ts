import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import type { StorageCredential } from './credential.ts';
import { fileStorage } from './file-storage.ts';
import { normalizeLocation } from './location.ts';
import type { Storage } from './storage.ts';

/** Opens the storage of a location. @throws NOT_SUPPORTED when no storage serves it, INVALID_REQUEST when it is not a location */
export type OpenStorage = (location: string, credential: StorageCredential) => Storage;

export const openStorage: OpenStorage = (location, credential) => {
  const normal = normalizeLocation(location);
  switch (credential.kind) {
    case 'none':
      if (normal.startsWith('file:')) return fileStorage;
      throw new SkeinError('NOT_SUPPORTED', `not a local location: ${location}`);
    case 's3':
      throw new SkeinError('NOT_SUPPORTED', `no storage serves ${location}`);
    default:
      return unreachable(credential);
  }
};
