import { createHash } from 'node:crypto';
import type { CommittedTable } from '../../../commit/creation.ts';
import { printJson } from '#shared/json.ts';
import type { Answer } from '../../rest-operation.ts';
import { NO_ACCESS, type TableAccess } from '../../table-access.ts';

/** The snapshots that a load returns: all, or those that a branch or tag points to. */
export type SnapshotMode = 'all' | 'refs';

/** Returns the quoted entity tag of a load; it differs by mode and by the access that is given, because the bodies differ. */
export const etagOf = (
  metadataLocation: string,
  mode: SnapshotMode,
  { variant = '' }: Pick<TableAccess, 'variant'> = NO_ACCESS,
): string =>
  `"${createHash('sha256').update(`${mode} ${metadataLocation}${variant}`).digest('base64url').slice(0, 27)}"`;

/** Renders a `LoadTableResult`. The metadata is inserted as text, without parsing it. */
export function loadTableAnswer(table: CommittedTable, mode: SnapshotMode, access: TableAccess): Answer {
  const { metadataLocation, metadata } = table;
  const location = metadataLocation === undefined ? '' : `"metadata-location":${JSON.stringify(metadataLocation)},`;
  const members = printJson(access.members).slice(1);
  return {
    status: 200,
    text: `{${location}"metadata":${metadata},${members}`,
    ...(access.isSecret ? { isSecret: true } : {}),
    ...(metadataLocation === undefined ? {} : { headers: { etag: etagOf(metadataLocation, mode, access) } }),
  };
}
