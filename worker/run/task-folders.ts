import { join } from 'node:path';
import { threadId } from 'node:worker_threads';
import type { ScanSpec, WriteSink } from '#shared/task/task.ts';
import type { TenantId } from '#shared/id.ts';
import { openRoots } from '#shared/storage/denied-roots.ts';
import type { HeldObjects } from '../objects/held-objects.ts';
import { openScanned, readablePath } from '../scan/readable-path.ts';

/** The local folders that an instance may open for its task. */

/** The folders below which DuckDB finds the files of a scan: those of a bucket have copies. */
export function readableFolders(scan: ScanSpec, objects: HeldObjects): readonly string[] {
  if (scan.credential.kind !== 'file') return [objects.folder];
  const open = openScanned(scan);
  return openRoots(scan.allowedRoots).map((root) => readablePath(open, root));
}

/** The folders in which DuckDB writes: that of all writes of the table, or into the stage, because the folder of one write is new. */
export function writableFolders(sink: WriteSink['sink'], workFolder: string): readonly string[] {
  if (sink.credential.kind !== 'file') return [workFolder];
  const open = openScanned(sink);
  return [readablePath(open, sink.folder.slice(0, sink.folder.lastIndexOf('/')))];
}

/** The folder in which DuckDB writes a tenant's files that go to a bucket. */
export const workFolderOf = (spillDir: string, tenant: TenantId): string =>
  join(spillDir, `written-${threadId}`, encodeURIComponent(tenant));
