import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { LoadsChange, StagedFile, StageLoads } from '#shared/iceberg/stage-loads.ts';
import type { Database, Tx } from './tables.ts';

/** Remembers which files of stages were loaded into which tables. */

/** Time for which a loaded file is remembered. */
const REMEMBERED_MS = 64 * 24 * 60 * 60 * 1_000;

const forgottenAt = (now: Date): Date => new Date(now.getTime() - REMEMBERED_MS);

/** Does what a commit says of loaded files, in its transaction. @throws FILE_ALREADY_LOADED */
export async function changeLoads(tx: Tx, tableId: string, change: LoadsChange, now: Date): Promise<void> {
  if ('loaded' in change) return rememberLoads(tx, tableId, change.loaded, now);
  const { branch } = change.forgotten;
  await tx.deleteFrom('loaded_file').where('table_id', '=', tableId).where('branch', '=', branch).execute();
}

/**
 * Remembers files as loaded into a table, in the transaction of their rows' commit. Of two transactions that load one file the second waits
 * here for the end of the first. @throws FILE_ALREADY_LOADED when one of them was loaded in the same state, unless they are loaded again
 */
async function rememberLoads(
  tx: Tx,
  tableId: string,
  { branch, stageId, again, files }: StageLoads,
  now: Date,
): Promise<void> {
  // In one order, so that two transactions cannot wait for each other.
  const sorted = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const { rows } = await sql`
    insert into catalog.loaded_file as l (table_id, branch, stage_id, path, etag, loaded_at)
    select ${tableId}::uuid, ${branch}, ${stageId}::uuid, f.path, f.etag, ${now}::timestamptz
    from unnest(${sorted.map(({ path }) => path)}::text[], ${sorted.map(({ etag }) => etag)}::text[]) as f (path, etag)
    on conflict (table_id, branch, stage_id, path) do update
    set etag = excluded.etag, loaded_at = excluded.loaded_at
    where ${again} or l.etag <> excluded.etag or l.loaded_at <= ${forgottenAt(now)}
    returning 1`.execute(tx);
  if (rows.length === sorted.length) return;
  throw new SkeinError('FILE_ALREADY_LOADED', 'another statement has loaded a file of the stage meanwhile');
}

/** Those of some files that were loaded into a table in the state that they have. */
export async function findLoads(
  db: Database,
  tableId: string,
  { branch, stageId, files }: Omit<StageLoads, 'again'>,
  now: Date,
): Promise<readonly string[]> {
  const found = await db
    .selectFrom('loaded_file')
    .select(['path', 'etag'])
    .where('table_id', '=', tableId)
    .where('branch', '=', branch)
    .where('stage_id', '=', stageId)
    .where('path', 'in', paths(files))
    .where('loaded_at', '>', forgottenAt(now))
    .execute();
  const etags = new Map(files.map(({ path, etag }) => [path, etag]));
  return found.filter(({ path, etag }) => etags.get(path) === etag).map(({ path }) => path);
}

const paths = (files: readonly StagedFile[]) => sql<string>`(select unnest(${files.map(({ path }) => path)}::text[]))`;

/** Deletes what is no longer remembered. */
export async function deleteForgottenLoads(db: Database, now: Date): Promise<void> {
  await db.deleteFrom('loaded_file').where('loaded_at', '<=', forgottenAt(now)).execute();
}
