import type { S3Credential } from '#shared/storage/credential.ts';
import { objectStorage } from '#shared/storage/object/object-storage.ts';
import type { StorageUse } from '#shared/storage/storage-use.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { S3Client } from './s3-client.ts';
import { listObjects, removeObjects } from './s3-lists.ts';
import { s3Location, s3Place } from './s3-object.ts';
import { getObject, headObject } from './s3-reads.ts';
import { abortUploads } from './s3-uploads.ts';
import { beginUpload, copyObject, putWhole } from './s3-writes.ts';

/** Storage of `s3:` locations. */
export function s3Storage(credential: S3Credential, use?: StorageUse): Storage {
  const client = new S3Client(credential, use);
  return objectStorage({
    locationOf: (location) => s3Location(s3Place(location)),
    get: (location, reading) => getObject(client, location, reading),
    hasTails: true,
    head: (location) => headObject(client, location),
    mayRepeat: () => client.mayRepeat(),
    put: (location, body, checksums) => putWhole(client, location, { body, checksums }),
    beginUpload: (location, checksums) => beginUpload(client, location, checksums),
    copy: (from, to) => copyObject(client, from, to),
    list: (folder, pageSize) => listObjects(client, folder, pageSize),
    remove: (locations) => removeObjects(client, locations),
    abortUploads: (folder, text) => abortUploads(client, folder, text),
  });
}
