import type { AdlsCredential } from '#shared/storage/credential.ts';
import { objectStorage } from '#shared/storage/object/object-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { AdlsClient } from './adls-client.ts';
import { listBlobs, removeBlobs } from './adls-lists.ts';
import { adlsLocation, adlsPlace } from './adls-place.ts';
import { getBlob, headBlob } from './adls-reads.ts';
import { abortBlockUploads } from './adls-uploads.ts';
import { BlockUpload, copyBlob, putBlob } from './adls-writes.ts';

/** Storage of `abfss:` locations. */
export function adlsStorage(credential: AdlsCredential, use?: StorageUse): Storage {
  const client = new AdlsClient(credential, use);
  return objectStorage({
    locationOf: (location) => adlsLocation(adlsPlace(location)),
    get: (location, reading) => getBlob(client, location, reading),
    hasTails: false,
    head: (location) => headBlob(client, location),
    mayRepeat: () => client.mayRepeat(),
    put: (location, body, checksums) => putBlob(client, location, { body, checksums }),
    beginUpload: (location, checksums) => Promise.resolve(new BlockUpload(client, location, checksums)),
    copy: (from, to) => copyBlob(client, from, to),
    list: (folder, pageSize) => listBlobs(client, folder, { pageSize }),
    remove: (locations) => removeBlobs(client, locations),
    abortUploads: (folder, text) => abortBlockUploads(client, folder, text),
  });
}
