import { fileCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';

/** Opens the storage of a location with the catalog's own rights. @throws NOT_SUPPORTED, INVALID_REQUEST */
export const ownStorage = (location: string): Storage => openStorage(location, fileCredential(location));
