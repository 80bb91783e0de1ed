import { SkeinError } from '#shared/error.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import type { AccessKey, StorageSettings } from '../metadata/storage-settings.ts';
import type { ProfileRow } from '../store/postgres/profile-store.ts';
import { engineKeyOwner, ownKeyOwner, sealKey } from './storages.ts';

type NewProfile = {
  readonly settings: StorageSettings;
  /** null = the catalog's processes find one. */
  readonly key: AccessKey | null;
  readonly engineKey: AccessKey | null;
};

/** The storage profile of a new catalog as it is stored. @throws INVALID_REQUEST */
export function sealedProfile(
  sealing: SealingKeys,
  catalogId: string,
  { settings, key, engineKey }: NewProfile,
): Pick<ProfileRow, 'settings' | 'sealedKey' | 'sealedEngineKey'> {
  if (key === null && settings.flavor !== 'aws') {
    throw new SkeinError('INVALID_REQUEST', 'the catalog needs a key for its bucket (--credentials FILE)');
  }
  return {
    settings,
    sealedKey: key === null ? null : sealValidKey(sealing, key, ownKeyOwner(catalogId)),
    sealedEngineKey: engineKey === null ? null : sealValidKey(sealing, engineKey, engineKeyOwner(catalogId)),
  };
}

/** @throws INVALID_REQUEST for a key that no header can have: they travel there */
export function sealValidKey(sealing: SealingKeys, key: AccessKey, owner: string): string {
  const { accessKeyId, secretAccessKey, sessionToken } = key;
  const isValid =
    [accessKeyId, secretAccessKey].every((text) => /^[\x21-\x7e]{1,1024}$/.test(text)) &&
    /^[\x21-\x7e]*$/.test(sessionToken ?? '');
  if (!isValid) throw new SkeinError('INVALID_REQUEST', 'the key of the bucket is not valid');
  return sealKey(sealing, key, owner);
}
