import { sql } from 'kysely';
import { SkeinError } from '#shared/error.ts';
import type { Database } from './tables.ts';

/** Uploads that are being written into stages. */

/** Uploads of one stage that are open at once. */
const OPEN_UPLOADS_MAX = 10_000;

export type UploadRow = {
  readonly id: string;
  readonly stageId: string;
  readonly path: string;
  /** 0 = the file comes in one request. */
  readonly partBytes: number;
  /** Null = unknown. */
  readonly sizeBytes: number | null;
  readonly expiresAt: Date;
  /** The store's id of the upload, where clients send the parts to it. */
  readonly storeUploadId: string | null;
};

/** @throws QUEUE_FULL when too many are open */
export async function insertUpload(db: Database, upload: Omit<UploadRow, 'storeUploadId'>): Promise<void> {
  const { id, stageId, path, partBytes, sizeBytes, expiresAt } = upload;
  const { open } = await db
    .selectFrom('stage_upload')
    .select(({ fn }) => fn.countAll<string>().as('open'))
    .where('stage_id', '=', stageId)
    .where('ended', '=', false)
    .executeTakeFirstOrThrow();
  if (Number(open) >= OPEN_UPLOADS_MAX) {
    throw new SkeinError('QUEUE_FULL', `the stage has ${OPEN_UPLOADS_MAX} open uploads: complete or abort some`);
  }
  await db
    .insertInto('stage_upload')
    .values({ id, stage_id: stageId, path, part_bytes: partBytes, size_bytes: sizeBytes, expires_at: expiresAt })
    .execute();
}

/** @throws UPLOAD_NOT_FOUND when it has ended or expired */
export async function requireUpload(db: Database, id: string, now: Date): Promise<UploadRow> {
  const row = await db
    .selectFrom('stage_upload')
    .selectAll()
    .where('id', '=', id)
    .where('ended', '=', false)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  if (row === undefined) throw uploadNotFound(id);
  return {
    id,
    stageId: row.stage_id,
    path: row.path,
    partBytes: Number(row.part_bytes),
    sizeBytes: row.size_bytes === null ? null : Number(row.size_bytes),
    expiresAt: row.expires_at,
    storeUploadId: row.store_upload_id,
  };
}

/** Keeps the store's id of an upload. */
export async function keepStoreUpload(db: Database, id: string, storeUploadId: string): Promise<void> {
  await db.updateTable('stage_upload').set({ store_upload_id: storeUploadId }).where('id', '=', id).execute();
}

/**
 * Notes that the store may have begun another upload for the file of this one, whose id nobody knows: a row without an id, which has ended
 * already, and of which the sweep ends what is left when the time of both is over.
 */
export async function keepLostUpload(db: Database, id: string): Promise<void> {
  await db
    .insertInto('stage_upload')
    .columns(['id', 'stage_id', 'path', 'part_bytes', 'expires_at', 'ended'])
    .expression((from) =>
      from
        .selectFrom('stage_upload')
        .select((row) => [
          sql<string>`gen_random_uuid()`.as('lost_id'),
          'stage_id',
          'path',
          'part_bytes',
          'expires_at',
          row.lit(true).as('ended'),
        ])
        .where('id', '=', id),
    )
    .execute();
}

/** The store's ids of the uploads for one file of a stage. */
export async function storeUploadsOf(db: Database, stageId: string, path: string): Promise<ReadonlySet<string>> {
  const rows = await db
    .selectFrom('stage_upload')
    .select('store_upload_id')
    .where('stage_id', '=', stageId)
    .where('path', '=', path)
    .execute();
  return new Set(rows.flatMap((row) => row.store_upload_id ?? []));
}

const uploadNotFound = (id: string): SkeinError =>
  new SkeinError('UPLOAD_NOT_FOUND', `no upload ${id.slice(0, 64)} is open: it was completed, aborted, or has expired`);

/** @param inParts requests of it may still run: its row stays until its time is over */
export async function endUpload(db: Database, id: string, inParts: boolean): Promise<void> {
  if (inParts) await db.updateTable('stage_upload').set({ ended: true }).where('id', '=', id).execute();
  else await forgetUpload(db, id);
}

export async function forgetUpload(db: Database, id: string): Promise<void> {
  await db.deleteFrom('stage_upload').where('id', '=', id).execute();
}

export type ExpiredUpload = Pick<UploadRow, 'id' | 'stageId' | 'path' | 'expiresAt' | 'storeUploadId'> & {
  /** The folder of its stage. */
  readonly location: string;
  /** It has parts, which it may have at the store. */
  readonly inParts: boolean;
};

/** Uploads whose time is over, the oldest first. */
export async function listExpiredUploads(db: Database, now: Date, limit: number): Promise<readonly ExpiredUpload[]> {
  return db
    .selectFrom('stage_upload as u')
    .innerJoin('stage as s', 's.id', 'u.stage_id')
    .select([
      'u.id',
      'u.stage_id as stageId',
      'u.path',
      'u.expires_at as expiresAt',
      'u.store_upload_id as storeUploadId',
      's.location',
      sql<boolean>`u.part_bytes > 0`.as('inParts'),
    ])
    .where('u.expires_at', '<=', now)
    .orderBy('u.expires_at')
    .limit(limit)
    .execute();
}
