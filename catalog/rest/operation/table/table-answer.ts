import { createHash } from 'node:crypto';
import type { CommittedTable } from '../../../commit/creation.ts';
import type { Answer } from '../../operation.ts';

/** Which snapshots a load returns: all, or those that a branch or tag points to. */
export type SnapshotMode = 'all' | 'refs';

/** Quoted, as the HTTP standard has it; another one for each mode, because the bodies differ. */
export const etagOf = (metadataLocation: string, mode: SnapshotMode): string =>
  `"${createHash('sha256').update(`${mode} ${metadataLocation}`).digest('base64url').slice(0, 27)}"`;

/** `LoadTableResult`. The metadata is put in as text: it is never parsed on its way. */
export function loadTableAnswer(table: CommittedTable, mode: SnapshotMode): Answer {
  const { metadataLocation, metadata } = table;
  const location = metadataLocation === undefined ? '' : `"metadata-location":${JSON.stringify(metadataLocation)},`;
  return {
    status: 200,
    text: `{${location}"metadata":${metadata},"config":{}}`,
    ...(metadataLocation === undefined ? {} : { headers: { etag: etagOf(metadataLocation, mode) } }),
  };
}
