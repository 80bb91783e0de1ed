import type { S3Credential, StorageCredential } from '#shared/storage/credential.ts';
import type { BucketKey } from '#proto/generated/skein/catalog/v1/BucketKey.ts';

/** Credentials of storages in messages: those of a bucket have a key, those of local files none. */

export function toKeyMessage(credential: StorageCredential): BucketKey | null {
  if (credential.kind === 'file') return null;
  const { accessKeyId, secretAccessKey, sessionToken, expiresAtMs, region, endpoint, pathStyle, reach } = credential;
  return {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    session_token: sessionToken ?? '',
    expires_at_ms: String(expiresAtMs ?? 0),
    region,
    endpoint: endpoint ?? '',
    path_style: pathStyle,
    folders: reach?.folders ?? [],
    writes: reach?.writes ?? false,
  };
}

export const fromKeyMessage = (key: BucketKey): S3Credential => ({
  kind: 's3',
  accessKeyId: key.access_key_id,
  secretAccessKey: key.secret_access_key,
  sessionToken: key.session_token === '' ? null : key.session_token,
  expiresAtMs: key.expires_at_ms === '0' ? null : Number(key.expires_at_ms),
  region: key.region,
  endpoint: key.endpoint === '' ? null : key.endpoint,
  pathStyle: key.path_style,
  ...(key.folders.length === 0 ? {} : { reach: { folders: key.folders, writes: key.writes } }),
});
