import { SkeinError } from '#shared/error.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import type { KeyOfFile } from '#shared/storage/key-file.ts';
import { mayUseMachine, settingsWithKey, type StorageSettings } from '../metadata/storage-settings.ts';
import type { ProfileRow } from '../store/postgres/profile-store.ts';
import { engineKeyOwner, ownKeyOwner, sealKey } from './open-profile.ts';

type NewProfile = {
  readonly settings: StorageSettings;
  /** null = the catalog's processes find one. */
  readonly key: KeyOfFile | null;
  readonly engineKey: KeyOfFile | null;
};

/** The storage profile of a new catalog as it is stored. @throws INVALID_REQUEST */
export function sealedProfile(
  sealing: SealingKeys,
  catalogId: string,
  { settings, key, engineKey }: NewProfile,
): Pick<ProfileRow, 'settings' | 'sealedKey' | 'sealedEngineKey'> {
  if (key === null && !mayUseMachine(settings)) {
    throw new SkeinError('INVALID_REQUEST', 'the catalog needs a key for its bucket (--credentials FILE)');
  }
  return {
    settings: settingsWithKey(settings, key),
    ...sealedKeys(sealing, { catalogId, settings }, { key, engineKey }),
  };
}

/** The keys of a profile as they are stored. @throws INVALID_REQUEST for a key of another store, or that no header can have */
export function sealedKeys(
  sealing: SealingKeys,
  { catalogId, settings }: { readonly catalogId: string; readonly settings: StorageSettings },
  { key, engineKey }: Pick<NewProfile, 'key' | 'engineKey'>,
): Pick<ProfileRow, 'sealedKey' | 'sealedEngineKey'> {
  for (const one of [key, engineKey]) {
    if (one !== null && one.kind !== settings.kind) {
      throw new SkeinError('INVALID_REQUEST', `the key of the bucket is of another store: ${EXPECTED[settings.kind]}`);
    }
  }
  if (engineKey !== null && settings.kind !== 's3') {
    throw new SkeinError('INVALID_REQUEST', 'a second key for engines (--engine-credentials) is for S3 alone');
  }
  return {
    sealedKey: key === null ? null : sealValidKey(sealing, key, ownKeyOwner(catalogId)),
    sealedEngineKey: engineKey === null ? null : sealValidKey(sealing, engineKey, engineKeyOwner(catalogId)),
  };
}

const EXPECTED = {
  s3: 'expected access_key_id and secret_access_key',
  gcs: 'expected the file of a service account of Google',
  adls: 'expected account_key, or tenant_id, client_id and client_secret',
} satisfies Record<StorageSettings['kind'], string>;

/** @throws INVALID_REQUEST for a key that no header can have: they travel there */
function sealValidKey(sealing: SealingKeys, key: KeyOfFile, owner: string): string {
  if (key.kind === 's3') {
    const { accessKeyId, secretAccessKey, sessionToken } = key;
    const isValid =
      [accessKeyId, secretAccessKey].every((text) => /^[\x21-\x7e]{1,1024}$/.test(text)) &&
      /^[\x21-\x7e]*$/.test(sessionToken ?? '');
    if (!isValid) throw new SkeinError('INVALID_REQUEST', 'the key of the bucket is not valid');
  }
  return sealKey(sealing, key, owner);
}
