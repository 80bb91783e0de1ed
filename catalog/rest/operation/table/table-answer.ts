import { createHash } from 'node:crypto';
import type { CommittedTable } from '../../../commit/creation.ts';
import type { Answer } from '../../operation.ts';

/** The snapshots that a load returns: all, or those that a branch or tag points to. */
export type SnapshotMode = 'all' | 'refs';

/** Returns the quoted entity tag of a load; it differs by mode, because the bodies differ. */
export const etagOf = (metadataLocation: string, mode: SnapshotMode): string =>
  `"${createHash('sha256').update(`${mode} ${metadataLocation}`).digest('base64url').slice(0, 27)}"`;

/** Renders a `LoadTableResult`. The metadata is inserted as text, without parsing it. */
export function loadTableAnswer(table: CommittedTable, mode: SnapshotMode): Answer {
  const { metadataLocation, metadata } = table;
  const location = metadataLocation === undefined ? '' : `"metadata-location":${JSON.stringify(metadataLocation)},`;
  return {
    status: 200,
    text: `{${location}"metadata":${metadata},"config":{}}`,
    ...(metadataLocation === undefined ? {} : { headers: { etag: etagOf(metadataLocation, mode) } }),
  };
}
