import type { StoreCredential } from '#shared/storage/credential.ts';
import type { KeyOfFile } from '#shared/storage/key-file.ts';
import type { StorageSettings } from '../metadata/storage-settings.ts';
import type { KeyPermission } from './session-policy.ts';

/** The profile of a catalog with its key opened; null = the machine's. */
export type OpenProfile<Settings extends StorageSettings, Kind extends KeyOfFile['kind']> = {
  /** Another one whenever the profile has changed. */
  readonly id: string;
  readonly catalog: string;
  readonly settings: Settings;
  readonly key: Extract<KeyOfFile, { kind: Kind }> | null;
};

/** The key that is wanted. */
export type KeyWishOfFolders = {
  /** Normalised; none lies in another. */
  readonly folders: readonly string[];
  readonly permission: KeyPermission;
  /** It is given to clients: it may not open more than the folders, unless the operator allows that. */
  readonly isForClient: boolean;
  readonly lifeMs: number;
  /** The store has refused the last one. */
  readonly isRefused: boolean;
};

/** A key that ends by itself. */
export type LimitedKey = StoreCredential & { readonly expiresAtMs: number };
