import type { BucketKey } from '#proto/generated/skein/catalog/v1/BucketKey.ts';
import { unreachable } from '#shared/must.ts';
import type { StorageCredential, StoreCredential } from '#shared/storage/credential.ts';

/** Credentials of storages in messages: those of a bucket have a key, those of local files none. */

export function toKeyMessage(credential: StorageCredential): BucketKey | null {
  if (credential.kind === 'file') return null;
  const { expiresAtMs, endpoint, reach } = credential;
  const common = {
    ...NO_KEY,
    expires_at_ms: String(expiresAtMs ?? 0),
    endpoint: endpoint ?? '',
    folders: reach?.folders ?? [],
    writes: reach?.writes ?? false,
  };
  switch (credential.kind) {
    case 's3': {
      const { accessKeyId, secretAccessKey, sessionToken, region, pathStyle } = credential;
      return {
        ...common,
        access_key_id: accessKeyId,
        secret_access_key: secretAccessKey,
        session_token: sessionToken ?? '',
        region,
        path_style: pathStyle,
      };
    }
    case 'gcs':
      return { ...common, gcs: { token: credential.token } };
    case 'adls':
      return { ...common, adls: { sas: credential.sas } };
    default:
      return unreachable(credential);
  }
}

const NO_KEY = {
  access_key_id: '',
  secret_access_key: '',
  session_token: '',
  region: '',
  path_style: false,
  gcs: null,
  adls: null,
};

export function fromKeyMessage(key: BucketKey): StoreCredential {
  const common = {
    expiresAtMs: key.expires_at_ms === '0' ? null : Number(key.expires_at_ms),
    endpoint: key.endpoint === '' ? null : key.endpoint,
    ...(key.folders.length === 0 ? {} : { reach: { folders: key.folders, writes: key.writes } }),
  };
  // A catalog of an older release knows of no other store than S3.
  if (key.gcs) return { kind: 'gcs', token: key.gcs.token, ...common };
  if (key.adls) return { kind: 'adls', sas: key.adls.sas, ...common };
  return {
    kind: 's3',
    accessKeyId: key.access_key_id,
    secretAccessKey: key.secret_access_key,
    sessionToken: key.session_token === '' ? null : key.session_token,
    region: key.region,
    pathStyle: key.path_style,
    ...common,
  };
}
