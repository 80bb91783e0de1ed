import type { GcsCredential } from '#shared/storage/credential.ts';
import { objectStorage } from '#shared/storage/object/object-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { GcsClient } from './gcs-client.ts';
import { listGcsObjects, removeGcsObjects } from './gcs-lists.ts';
import { gcsLocation, gcsPlace } from './gcs-object.ts';
import { getGcsObject, headGcsObject } from './gcs-reads.ts';
import { beginGcsUpload, copyGcsObject, putGcsObject } from './gcs-writes.ts';

/** Storage of `gs:` locations. */
export function gcsStorage(credential: GcsCredential, use?: StorageUse): Storage {
  const client = new GcsClient(credential, use);
  return objectStorage({
    locationOf: (location) => gcsLocation(gcsPlace(location)),
    get: (location, reading) => getGcsObject(client, location, reading),
    hasTails: true,
    head: (location) => headGcsObject(client, location),
    mayRepeat: () => client.mayRepeat(),
    put: (location, body, checksums) => putGcsObject(client, location, { body, checksums }),
    beginUpload: (location, checksums) => beginGcsUpload(client, location, checksums),
    copy: (from, to) => copyGcsObject(client, from, to),
    list: (folder, pageSize) => listGcsObjects(client, folder, pageSize),
    remove: (locations) => removeGcsObjects(client, locations),
    // A session that nobody ends is gone after a week, and costs nothing until then.
    abortUploads: () => Promise.resolve(0),
  });
}
