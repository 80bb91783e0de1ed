import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import {
  fileCredential,
  storeKeyId,
  type S3Credential,
  type StorageCredential,
  type StoreCredential,
} from '#shared/storage/credential.ts';
import { isInBucket, isWithin, normalizeLocation, withAncestors } from '#shared/storage/location.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { storeAddress } from '#shared/storage/s3/s3-client.ts';
import type { Storage } from '#shared/storage/storage.ts';

import { hasSts, type AccessKey, type StorageSettings } from '../metadata/storage-settings.ts';
import { findProfileAt, listFileRoots, type ProfileRow } from '../store/postgres/profile-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { assumeRole } from './assume-role.ts';
import { MachineKeys, type MachineKey } from './machine-key.ts';
import { sessionPolicy, type KeyPermission } from './session-policy.ts';

/** Temporary keys that are remembered: of the tables that are in use. */
const KEYS_MAX = 10_000;
/** Time for which a file that was there counts as there. */
const EXISTENCE_MS = 60_000;
/** A key is given away as long as it has more than this part of its life before it. */
const LIFE_LEFT_MIN = 1 / 3;

type Parts = {
  readonly db: Database;
  readonly sealing: SealingKeys;
  readonly clock: Clock;
  /** Life of temporary keys. */
  readonly keyLifeMs: number;
};

/** A key of this id is wanted no more; the roots of the catalog are these. */
type Asked = { readonly refused?: string | undefined; readonly roots?: readonly string[] | undefined };

/** Whose key it is: the reader or writer of some folders. */
export type Vending = {
  readonly folders: readonly string[];
  readonly permission: KeyPermission;
  readonly tenant: string;
  /** Id of a key that the store has refused, or that ends: another one is wanted. */
  readonly refused?: string;
  /** Called before a key is made, and not when one is there already. */
  readonly check?: () => Promise<void>;
};

/** The storages of all catalogs: opened with their own rights, and with temporary keys for those who read and write tables. */
export class Storages {
  readonly #parts: Parts;
  /** Files of buckets that were there a short while ago. */
  readonly #existing = new LRUCache<string, true>({ max: KEYS_MAX, ttl: EXISTENCE_MS });
  readonly #machine = new MachineKeys();
  readonly #keys = new LRUCache<string, Promise<GivenKey>>({ max: KEYS_MAX });
  /** Roots of catalogs on this machine, normalised, as far as they are known here: a new one is found when it is asked for. */
  #fileRoots: ReadonlySet<string> = new Set();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * Opens the storage of a location with the catalog's own rights.
   * @param roots the roots of its catalog, where the caller knows them: the catalog may be gone, and files on this machine are still there
   * @throws NOT_SUPPORTED, INVALID_REQUEST, STORAGE_ERROR
   */
  async open(location: string, roots?: readonly string[]): Promise<Storage> {
    const renew = async (old: StoreCredential): Promise<StoreCredential> => {
      const other = await this.credential(location, { refused: storeKeyId(old) });
      return other.kind === 'file' ? old : other;
    };
    return openStorage(location, await this.credential(location, { roots }), { renew });
  }

  /** Whether there is a way to the bytes of a location: none leads into a bucket whose catalog has been dropped. */
  async reaches(location: string): Promise<boolean> {
    const normal = normalizeLocation(location);
    return !isInBucket(normal) || (await findProfileAt(this.#parts.db, normal)) !== undefined;
  }

  /** The catalog's own right to a location, another one than `refused`. It goes to no other process. @throws as `open` */
  async credential(location: string, { refused, roots: known }: Asked = {}): Promise<StorageCredential> {
    const normal = normalizeLocation(location);
    if (!isInBucket(normal)) return fileCredential(...(known ?? [await this.#fileRootOf(normal)]));
    const profile = await this.#profileAt(normal);
    const { settings, roots } = profile;
    if (settings.roleArn === null) return this.#ownCredential(profile, refused);
    return this.temporaryKey(profile, {
      folders: roots,
      permission: 'own',
      tenant: profile.tenant,
      ...(refused === undefined ? {} : { refused }),
    });
  }

  /**
   * Whether a file is there, as of at most `EXISTENCE_MS` ago in a bucket, where a load would wait for the store each time.
   * @throws as `open`
   */
  async exists(location: string): Promise<boolean> {
    if (this.#existing.has(location)) return true;
    const storage = await this.open(location);
    const isThere = await storage.exists(location);
    if (isThere && !storage.isLocal) this.#existing.set(location, true);
    return isThere;
  }

  /**
   * A key that reaches some folders of one catalog and nothing else; the same one for all that need the same, as long as it lives.
   * @throws NOT_SUPPORTED where the store gives none and the operator has not set one; STORAGE_ERROR
   */
  async vend(vending: Vending): Promise<StorageCredential> {
    return (await this.vendForClients(vending)).credential;
  }

  /** As `vend`, with the address by which clients reach the store. It is null where the key reaches more than the folders. */
  async vendForClients(vending: Vending): Promise<VendedKey> {
    const [location = ''] = vending.folders;
    const normal = normalizeLocation(location);
    if (!isInBucket(normal)) return { credential: await this.credential(normal), clientEndpoint: null };
    const profile = await this.#profileAt(normal);
    const { sealedEngineKey, catalogId, catalog, settings } = profile;
    if (hasSts(settings)) {
      return { credential: await this.temporaryKey(profile, vending), clientEndpoint: storeAddress(settings) };
    }
    if (sealedEngineKey !== null) {
      const key = openKey(this.#parts.sealing, sealedEngineKey, engineKeyOwner(catalogId));
      return { credential: toCredential(settings, key, null), clientEndpoint: null };
    }
    throw new SkeinError(
      'NOT_SUPPORTED',
      `the store of catalog ${catalog} gives no temporary keys: the operator has to set a key for engines (--engine-credentials)`,
    );
  }

  /**
   * The key by which requests are signed where the store gives no temporary ones: the operator's for engines, else the catalog's own. It
   * leaves the process only as signatures.
   */
  async signingKey(profile: ProfileRow): Promise<S3Credential> {
    const { sealedEngineKey, catalogId, settings } = profile;
    if (sealedEngineKey === null) return this.#ownCredential(profile);
    return toCredential(settings, openKey(this.#parts.sealing, sealedEngineKey, engineKeyOwner(catalogId)), null);
  }

  /** The root of a catalog that is the nearest at or above a location of this machine. @throws NOT_SUPPORTED */
  async #fileRootOf(location: string): Promise<string> {
    const find = (): string | undefined => withAncestors(location).find((folder) => this.#fileRoots.has(folder));
    const known = find();
    if (known !== undefined) return known;
    this.#fileRoots = new Set((await listFileRoots(this.#parts.db)).map(normalizeLocation));
    const found = find();
    if (found === undefined) throw new SkeinError('NOT_SUPPORTED', `no catalog lies at or above ${location}`);
    return found;
  }

  async #ownCredential(profile: ProfileRow, refused?: string): Promise<S3Credential> {
    const key = await this.#ownKey(profile, refused);
    return toCredential(profile.settings, key, 'expiresAtMs' in key ? key.expiresAtMs : null);
  }

  async #profileAt(location: string): Promise<ProfileRow> {
    const profile = await findProfileAt(this.#parts.db, location);
    if (profile === undefined) throw new SkeinError('NOT_SUPPORTED', `no catalog has a key for ${location}`);
    return profile;
  }

  /** The long-lived key of a catalog, or that of this machine. @throws NOT_SUPPORTED, STORAGE_ERROR */
  async #ownKey(
    { sealedKey, catalogId, catalog, settings }: ProfileRow,
    refused?: string,
  ): Promise<AccessKey | MachineKey> {
    if (sealedKey !== null) return openKey(this.#parts.sealing, sealedKey, ownKeyOwner(catalogId));
    if (settings.flavor === 'aws') return this.#machine.key(refused);
    throw new SkeinError('NOT_SUPPORTED', `catalog ${catalog} has no key for its bucket (--credentials)`);
  }

  /** As `vend`, from a profile whose store has STS. @throws STORAGE_ERROR, and what `check` throws */
  async temporaryKey(
    profile: ProfileRow,
    { folders, permission, tenant, check, refused }: Vending,
  ): Promise<S3Credential> {
    const { catalogId, version, settings, catalog } = profile;
    const { clock, keyLifeMs } = this.#parts;
    const sorted = outermost(folders.map(normalizeLocation));
    const key = JSON.stringify([catalogId, version, tenant, permission, sorted]);
    const known = await this.#keys.get(key);
    const isFresh = ({ credential, lifeMs }: GivenKey): boolean =>
      credential.accessKeyId !== refused && leftMs(credential, clock) > lifeMs * LIFE_LEFT_MIN;
    if (known !== undefined && isFresh(known)) return known.credential;
    const asked = this.#keys.get(key);
    // Another caller may have asked meanwhile.
    if (asked !== undefined) {
      const other = await asked;
      if (other !== known) return other.credential;
    }
    const make = async (): Promise<GivenKey> => {
      await check?.();
      const temporary = await assumeRole(await this.#ownKey(profile), settings, {
        name: `skein-${catalog}-${permission}`,
        policy: sessionPolicy(sorted, permission, settings.region, settings.roleArn),
        lifeSeconds: Math.floor(keyLifeMs / 1_000),
      });
      const { expiresAtMs } = temporary;
      const reach = { folders: sorted, writes: permission !== 'read' };
      const credential = { ...toCredential(settings, temporary, expiresAtMs), reach };
      return { credential, lifeMs: expiresAtMs - clock.nowMs() };
    };
    const made = make();
    this.#keys.set(key, made);
    try {
      return (await made).credential;
    } catch (error) {
      this.#keys.delete(key);
      // The key that is known serves as long as it lives.
      if (known !== undefined && known.credential.accessKeyId !== refused && leftMs(known.credential, clock) > 0) {
        return known.credential;
      }
      throw error;
    }
  }
}

type VendedKey = { readonly credential: StorageCredential; readonly clientEndpoint: string | null };

/** A temporary key, and how long it lives in all: the store may give it less time than was asked for. */
type GivenKey = { readonly credential: S3Credential; readonly lifeMs: number };

/** The folders that lie in no other one, in their order. */
const outermost = (folders: readonly string[]): readonly string[] =>
  [...new Set(folders)].filter((one) => !folders.some((other) => other !== one && isWithin(one, other))).sort();

const leftMs = ({ expiresAtMs }: S3Credential, clock: Clock): number => (expiresAtMs ?? Infinity) - clock.nowMs();

function toCredential(settings: StorageSettings, key: AccessKey, expiresAtMs: number | null): S3Credential {
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

const openKey = (sealing: SealingKeys, sealed: string, owner: string): AccessKey =>
  JSON.parse(sealing.open(sealed, owner)) as AccessKey;

export const sealKey = (sealing: SealingKeys, key: AccessKey, owner: string): string =>
  sealing.seal(JSON.stringify(key), owner);

/** The owners to which the sealed keys of a catalog are bound. */
export const ownKeyOwner = (catalogId: string): string => `storage key of catalog ${catalogId}`;
export const engineKeyOwner = (catalogId: string): string => `engine key of catalog ${catalogId}`;
