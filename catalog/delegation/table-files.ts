import { setTimeout as sleep } from 'node:timers/promises';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { decideFiles, type FileDecision } from '../authorization/decide.ts';
import { isExempt } from '../authorization/policies.ts';
import { opensFoldersOnly } from '../metadata/storage-settings.ts';
import { containerOf } from '../storage/open-profile.ts';
import type { Permission } from '../storage/session-policy.ts';
import type { Storages } from '../storage/storages.ts';
import { requireBelowRoot } from '../storage/table-location.ts';
import { hasClosedBelow, keepKeys, requireFree } from '../store/postgres/folder-claims.ts';
import type { FilePlace } from '../store/postgres/file-place-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import type { DelegationLog } from './delegation-log.ts';

export type DelegationParts = {
  readonly store: { readonly db: Database };
  readonly storages: Storages;
  readonly delegationLog: DelegationLog;
};

/** A table's files: those of one that is being created have no id yet. */
export type Place = Omit<FilePlace, 'tableId'> & { readonly tableId: string | undefined };

/** Longest time that a client waits for a key: it is then told to come again. */
const WAIT_MS_MAX = 8_000;

/** Whether the principal may have the files of a table, to read or also to write. */
export const filesOf = (
  principal: Principal,
  { catalog, ident, hasPolicies }: Pick<Place, 'catalog' | 'ident' | 'hasPolicies'>,
): FileDecision => decideFiles(principal, { kind: 'table', catalog, ...ident }, hasPolicies && !isExempt(principal));

/** The principal who gets a key, and for what. */
export type KeyWish = { readonly holder: PrincipalId; readonly permission: Permission };

/** A key that the store has limited to a table's folders. @throws NOT_SUPPORTED, INVALID_REQUEST, STORAGE_ERROR */
export async function tableKey(
  { store, storages }: Pick<DelegationParts, 'store' | 'storages'>,
  place: Place,
  { holder, permission }: KeyWish,
): Promise<StoreCredential> {
  const { folders, profile, tableId, catalog } = place;
  if (profile === undefined || folders.length === 0) {
    throw new SkeinError('NOT_SUPPORTED', `no catalog has a key for the files of this table of ${catalog}`);
  }
  requireFolders(place);
  await requireNoPoliciesBeside(store.db, place);
  const check = (): Promise<void> => requireFree(store.db, folders, tableId);
  const key = await inTime(
    storages.temporaryKey(profile, { folders, permission, tenant: profile.tenant, isForClient: true, check }),
  );
  await keepTime(store.db, tableId, { holder, untilMs: key.expiresAtMs ?? 0 });
  return key;
}

/**
 * Keeps until when a client may open the files of a table: its folders are given to no other principal's table before. One that is being created has no
 * row for that yet; its folder has a name that no other gets, unless a client chooses it.
 * @throws INVALID_REQUEST when the table is gone
 */
export async function keepTime(
  db: Database,
  tableId: string | undefined,
  key: { readonly holder: PrincipalId; readonly untilMs: number },
): Promise<void> {
  if (tableId === undefined || (await keepKeys(db, tableId, key))) return;
  throw new SkeinError('INVALID_REQUEST', 'the table is gone');
}

/** Whether a client's key for a table opens the table's folders and no more. */
export const opensFoldersAlone = ({ profile, folders }: Pick<Place, 'profile' | 'folders'>): boolean =>
  profile === undefined || opensFoldersOnly(profile.settings, folders.length);

/**
 * A key for a whole container would open the files of tables with policies in it, of whichever catalog, to whom these concern. It is asked
 * before each key is given, also one that was made before: a policy may have been bound since. @throws NOT_SUPPORTED
 */
async function requireNoPoliciesBeside(db: Database, place: Place): Promise<void> {
  if (opensFoldersAlone(place)) return;
  for (const container of new Set(place.folders.map((folder) => normalizeLocation(containerOf(folder))))) {
    if (!(await hasClosedBelow(db, container))) continue;
    throw new SkeinError(
      'NOT_SUPPORTED',
      'tables with policies lie in the container, and a signature for all of it would open their files',
    );
  }
}

/** The operator may have taken a root away since the table was made. @throws INVALID_REQUEST */
export function requireFolders({ folders, roots }: Pick<Place, 'folders' | 'roots'>): void {
  for (const folder of folders) requireBelowRoot(folder, roots);
}

async function inTime<T>(work: Promise<T>): Promise<T> {
  const waiting = new AbortController();
  const late = sleep(WAIT_MS_MAX, undefined, { signal: waiting.signal, ref: false }).then(() => {
    throw new SkeinError('STORAGE_ERROR', 'the store gives no temporary key: it does not answer');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    waiting.abort();
    // The loser of the race fails without anybody who waits for it.
    late.catch(() => undefined);
    work.catch(() => undefined);
  }
}
