import { memoryUses } from '#shared/memory-uses.ts';
import { LRUCache } from 'lru-cache';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
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
import { hasSts } from '../metadata/s3-settings.ts';
import type { StorageSettings } from '../metadata/storage-settings.ts';
import { findProfileAt, listFileRoots, type ProfileRow } from '../store/postgres/profile-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { AdlsKeys } from './adls-keys.ts';
import { GcsKeys } from './gcs-keys.ts';
import { containerOf, openAdls, openEngineKey, openGcs, openS3 } from './open-profile.ts';
import { S3Keys, s3Credential } from './s3-keys.ts';
import type { ObjectRequest, SignedAddress } from './object-request.ts';
import type { KeyPermission } from './session-policy.ts';
import type { KeyWishOfFolders, LimitedKey } from './store-keys.ts';

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
  /** The servers that give this machine tokens. */
  readonly machineUrls: { readonly google: string; readonly azure: string };
};

/** A key of this id is wanted no more; the roots of the catalog are these. */
type Asked = { readonly refused?: string | undefined; readonly roots?: readonly string[] | undefined };

/** Whose key it is: the reader or writer of some folders. */
export type Vending = {
  readonly folders: readonly string[];
  readonly permission: KeyPermission;
  readonly tenant: string;
  /** It leaves the cluster: it may not open more than the folders, unless the operator allows that. */
  readonly isForClient?: boolean;
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
  readonly #existingUses = memoryUses('existing_files');
  readonly #s3 = new S3Keys();
  readonly #gcs: GcsKeys;
  readonly #adls: AdlsKeys;
  readonly #keys = new LRUCache<string, Promise<GivenKey>>({ max: KEYS_MAX });
  readonly #uses = memoryUses('store_keys');
  /** Roots of catalogs on this machine, normalised, as far as they are known here: a new one is found when it is asked for. */
  #fileRoots: ReadonlySet<string> = new Set();

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#gcs = new GcsKeys(parts.clock, parts.machineUrls.google);
    this.#adls = new AdlsKeys(parts.clock, parts.machineUrls.azure);
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
    if (settings.kind === 's3' && settings.roleArn === null)
      return this.#s3.own(this.#opened(openS3, profile), refused);
    return this.temporaryKey(profile, {
      // A signature of Azure's is for one container.
      folders: settings.kind === 'adls' ? [containerOf(normal)] : roots,
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
    const isKnown = this.#existing.has(location);
    if (isKnown || isInBucket(normalizeLocation(location))) this.#existingUses.count(isKnown);
    if (isKnown) return true;
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
    if (!isInBucket(normal)) return { credential: await this.credential(normal), clientEndpoint: null, signs: false };
    const profile = await this.#profileAt(normal);
    const { catalog, settings } = profile;
    if (settings.kind !== 's3' || hasSts(settings)) {
      const credential = await this.temporaryKey(profile, vending);
      return { credential, clientEndpoint: clientEndpoint(settings), signs: signsRequests(profile) };
    }
    const key = openEngineKey(this.#parts.sealing, profile);
    if (key !== null) return { credential: s3Credential(settings, key, null), clientEndpoint: null, signs: false };
    throw new SkeinError(
      'NOT_SUPPORTED',
      `the store of catalog ${catalog} gives no temporary keys: the operator has to set a key for engines (--engine-credentials)`,
    );
  }

  /**
   * Addresses by which clients send requests to the store, until a time or until the key ends that signs them.
   * @throws NOT_SUPPORTED where `VendedKey.signs` is false; STORAGE_ERROR, INVALID_REQUEST
   */
  async signRequests(
    location: string,
    requests: readonly ObjectRequest[],
    untilMs: number,
  ): Promise<readonly SignedAddress[]> {
    const profile = await this.#profileAt(normalizeLocation(location));
    const { clock, keyLifeMs } = this.#parts;
    const endMs = Math.min(untilMs, clock.nowMs() + keyLifeMs);
    const { kind } = profile.settings;
    if (kind === 'gcs') return this.#gcs.sign(this.#opened(openGcs, profile), requests, endMs);
    if (kind === 'adls') return this.#adls.sign(this.#opened(openAdls, profile), requests, endMs);
    throw new SkeinError('NOT_SUPPORTED', `the catalog signs no requests for ${location}`);
  }

  /**
   * The key by which requests are signed where the store gives no temporary ones: the operator's for engines, else the catalog's own. It
   * leaves the process only as signatures. @throws NOT_SUPPORTED for another store than S3
   */
  async signingKey(profile: ProfileRow): Promise<S3Credential> {
    const key = openEngineKey(this.#parts.sealing, profile);
    const opened = this.#opened(openS3, profile);
    return key === null ? this.#s3.own(opened) : s3Credential(opened.settings, key, null);
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

  #opened<Opened>(open: (sealing: SealingKeys, profile: ProfileRow) => Opened, profile: ProfileRow): Opened {
    return open(this.#parts.sealing, profile);
  }

  async #profileAt(location: string): Promise<ProfileRow> {
    const profile = await findProfileAt(this.#parts.db, location);
    if (profile === undefined) throw new SkeinError('NOT_SUPPORTED', `no catalog has a key for ${location}`);
    return profile;
  }

  /** As `vend`, from a profile whose store gives temporary keys. @throws STORAGE_ERROR, NOT_SUPPORTED, and what `check` throws */
  async temporaryKey(
    profile: ProfileRow,
    { folders, permission, tenant, isForClient = false, check, refused }: Vending,
  ): Promise<LimitedKey> {
    const { catalogId, version } = profile;
    const { clock, keyLifeMs } = this.#parts;
    const sorted = outermost(folders.map(normalizeLocation));
    const key = JSON.stringify([catalogId, version, tenant, permission, sorted, isForClient]);
    const last = this.#keys.get(key);
    const known = await last;
    const isFresh = ({ credential, lifeMs }: GivenKey): boolean =>
      storeKeyId(credential) !== refused && leftMs(credential, clock) > lifeMs * LIFE_LEFT_MIN;
    const isKnown = known !== undefined && isFresh(known);
    this.#uses.count(isKnown);
    if (isKnown) return known.credential;
    const asked = this.#keys.get(key);
    // Another caller has asked meanwhile.
    if (asked !== undefined && asked !== last) {
      const { credential } = await asked;
      if (storeKeyId(credential) !== refused) return credential;
    }
    const make = async (): Promise<GivenKey> => {
      await check?.();
      try {
        const wish = { folders: sorted, permission, isForClient, lifeMs: keyLifeMs, isRefused: refused !== undefined };
        const made = await this.#make(profile, wish);
        const credential = { ...made, reach: { folders: sorted, writes: permission !== 'read' } };
        return { credential, lifeMs: made.expiresAtMs - clock.nowMs() };
      } catch (error) {
        // The key that is known serves as long as it lives.
        if (known === undefined || storeKeyId(known.credential) === refused || leftMs(known.credential, clock) <= 0) {
          throw error;
        }
        return known;
      }
    };
    const made = make();
    this.#keys.set(key, made);
    try {
      return (await made).credential;
    } catch (error) {
      if (this.#keys.get(key) === made) this.#keys.delete(key);
      throw error;
    }
  }

  #make(profile: ProfileRow, wish: KeyWishOfFolders): Promise<LimitedKey> {
    const { kind } = profile.settings;
    switch (kind) {
      case 's3':
        return this.#s3.make(this.#opened(openS3, profile), wish);
      case 'gcs':
        return this.#gcs.make(this.#opened(openGcs, profile), wish);
      case 'adls':
        return this.#adls.make(this.#opened(openAdls, profile), wish);
      default:
        return unreachable(kind);
    }
  }
}

type VendedKey = {
  readonly credential: StorageCredential;
  readonly clientEndpoint: string | null;
  /** `signRequests` gives addresses for the folders' objects. */
  readonly signs: boolean;
};

/** A token of Google's signs nothing: the key of a service account does, which machines have none of. */
const signsRequests = ({ settings, sealedKey }: ProfileRow): boolean =>
  settings.kind === 'adls' || (settings.kind === 'gcs' && sealedKey !== null);

/** The address at which clients use URLs that the key has signed. Those of other stores than S3 sign nothing. */
const clientEndpoint = (settings: StorageSettings): string | null =>
  settings.kind === 's3' ? storeAddress(settings) : null;

/** A temporary key, and how long it lives in all: the store may give it less time than was asked for. */
type GivenKey = { readonly credential: LimitedKey; readonly lifeMs: number };

/** The folders that lie in no other one, in their order. */
const outermost = (folders: readonly string[]): readonly string[] =>
  [...new Set(folders)].filter((one) => !folders.some((other) => other !== one && isWithin(one, other))).sort();

const leftMs = ({ expiresAtMs }: LimitedKey, clock: Clock): number => expiresAtMs - clock.nowMs();
