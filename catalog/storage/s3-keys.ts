import { SkeinError } from '#shared/error.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import type { AccessKey } from '#shared/storage/key-file.ts';
import type { S3Settings } from '../metadata/s3-settings.ts';
import { assumeRole } from './assume-role.ts';
import { MachineKeys, type MachineKey } from './machine-key.ts';
import { sessionPolicy } from './session-policy.ts';
import type { KeyWishOfFolders, OpenProfile } from './store-keys.ts';

export type S3Profile = OpenProfile<S3Settings, 's3'>;

/** The keys of catalogs in S3. */
export class S3Keys {
  readonly #machine = new MachineKeys();

  /** The long-lived key, or that of this machine. @throws NOT_SUPPORTED, STORAGE_ERROR */
  async own(profile: S3Profile, refused?: string): Promise<S3Credential> {
    const key = await this.#ownKey(profile, refused);
    return s3Credential(profile.settings, key, 'expiresAtMs' in key ? key.expiresAtMs : null);
  }

  /** A temporary key for some folders, of a store that has STS. @throws STORAGE_ERROR, NOT_SUPPORTED */
  async make(
    profile: S3Profile,
    { folders, permission, lifeMs }: Omit<KeyWishOfFolders, 'isForClient' | 'isRefused'>,
  ): Promise<S3Credential & { readonly expiresAtMs: number }> {
    const { settings, catalog } = profile;
    const temporary = await assumeRole(await this.#ownKey(profile), settings, {
      name: `skein-${catalog}-${permission}`,
      policy: sessionPolicy(folders, permission, settings.region, settings.roleArn),
      lifeSeconds: Math.floor(lifeMs / 1_000),
    });
    const { expiresAtMs } = temporary;
    return { ...s3Credential(settings, temporary, expiresAtMs), expiresAtMs };
  }

  async #ownKey({ key, catalog, settings }: S3Profile, refused?: string): Promise<AccessKey | MachineKey> {
    if (key !== null) return key;
    if (settings.flavor === 'aws') return this.#machine.key(refused);
    throw new SkeinError('NOT_SUPPORTED', `catalog ${catalog} has no key for its bucket (--credentials)`);
  }
}

export function s3Credential(settings: S3Settings, key: AccessKey, expiresAtMs: number | null): S3Credential {
  const { region, endpoint, internalEndpoint, pathStyle } = settings;
  const { accessKeyId, secretAccessKey, sessionToken } = key;
  return {
    kind: 's3',
    accessKeyId,
    secretAccessKey,
    sessionToken,
    expiresAtMs,
    region,
    endpoint: internalEndpoint ?? endpoint,
    pathStyle,
  };
}
