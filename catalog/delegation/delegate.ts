import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { isInBucket, isWithin, normalizeLocation } from '#shared/storage/location.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';
import { givesTableKeys, signsForClients, type StorageSettings } from '../metadata/storage-settings.ts';
import type { Permission } from '../storage/session-policy.ts';
import type { Asked } from './delegation-log.ts';
import { filesOf, opensFoldersAlone, tableKey, type DelegationParts, type Place } from './table-files.ts';

/** The ways in which a client can be let at the files of a table, as `X-Iceberg-Access-Delegation` names them. */
export type Way = 'vended-credentials' | 'remote-signing';

/** The way by which a client reaches the files of a table. */
export type Delegation =
  /** Local files: there is nothing to give. */
  | { readonly kind: 'local' }
  /** The principal may not have the files themselves. */
  | { readonly kind: 'refused'; readonly reason: string; readonly settings: StorageSettings }
  /** The store, or this table, allows none of the ways that the client names. */
  | { readonly kind: 'unavailable'; readonly reason: string; readonly settings: StorageSettings }
  | {
      readonly kind: 'key';
      readonly permission: Permission;
      /** The folder below which the key opens the table's folders. */
      readonly prefix: string;
      readonly key: StoreCredential;
      /** It opens more than the table: its whole container, which the operator allows. */
      readonly isOfContainer: boolean;
      readonly settings: StorageSettings;
    }
  /** The client asks for nothing that this store has. */
  | { readonly kind: 'configuration'; readonly settings: StorageSettings }
  | { readonly kind: 'signing'; readonly permission: Permission; readonly settings: StorageSettings };

/** Reads `X-Iceberg-Access-Delegation`; a way that is not known is left out, as the specification has it. */
export function waysOf(header: string | readonly string[] | undefined): readonly Way[] {
  const words = [header ?? []].flat().flatMap((text) => text.split(','));
  const named = new Set(words.map((word) => word.trim().toLowerCase()));
  return (['vended-credentials', 'remote-signing'] as const).filter((way) => named.has(way));
}

/**
 * Decides what a client gets for the ways that it names: a key where the store can give one that is limited to the table, else signatures.
 * Every key and every refusal is told in the log.
 * @param wanted the permission that is asked for; undefined = as much as the principal may
 * @throws STORAGE_ERROR when the store does not answer
 */
export async function delegate(
  parts: DelegationParts,
  { principal, place, wanted }: { readonly principal: Principal; readonly place: Place; readonly wanted?: Permission },
  ways: readonly Way[],
): Promise<Delegation> {
  if (!isInBucket(place.location) || place.profile === undefined) return { kind: 'local' };
  const { settings } = place.profile;
  const may = filesOf(principal, place);
  const asked: Asked = {
    event: 'vend',
    principal,
    table: place,
    method: wanted ?? (typeof may === 'string' ? may : 'read'),
    key: place.location,
  };
  const refuse = <Kind extends 'refused' | 'unavailable'>(kind: Kind, reason: string) => {
    parts.delegationLog.refused(asked, reason);
    return { kind, reason, settings };
  };
  if (typeof may !== 'string') return refuse('refused', may.refused);
  if (wanted === 'write' && may === 'read') return refuse('refused', 'the token lacks the scope table:write');
  const permission = wanted ?? may;
  const signs = signsForClients(settings);
  if (!ways.includes('vended-credentials')) {
    return signs ? { kind: 'signing', permission, settings } : { kind: 'configuration', settings };
  }
  if (!givesTableKeys(settings)) {
    if (signs && ways.includes('remote-signing')) return { kind: 'signing', permission, settings };
    return refuse('unavailable', `the store of catalog ${place.catalog} gives no temporary keys`);
  }
  try {
    const key = await tableKey(parts, place, { holder: principal.sub, permission });
    const isOfContainer = !opensFoldersAlone(place);
    parts.delegationLog.granted(asked, isOfContainer ? 'the key opens the whole container' : null);
    return { kind: 'key', permission, prefix: folderAbove(place.folders), key, isOfContainer, settings };
  } catch (error) {
    const reason = impossible(error);
    if (reason !== undefined) return refuse('unavailable', reason);
    parts.delegationLog.refused(asked, SkeinError.of(error).message);
    throw error;
  }
}

/** The reason for which there will never be a key for the table as it is; undefined when there may be one later. */
function impossible(error: unknown): string | undefined {
  const { code, message, cause } = SkeinError.of(error);
  const isTooLarge = cause instanceof StoreError && cause.code === 'PackedPolicyTooLarge';
  return isTooLarge || code === 'NOT_SUPPORTED' || code === 'INVALID_REQUEST' ? message : undefined;
}

/** The deepest folder at or above all of these. */
function folderAbove(folders: readonly string[]): string {
  const [first = '', ...others] = folders.map(normalizeLocation);
  let above = first;
  while (!others.every((other) => isWithin(other, above))) above = above.slice(0, above.lastIndexOf('/'));
  return above;
}
