import { isObject } from '#shared/iceberg/type.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** A file of a stage, in the state that a statement found it in. */
export type StagedFile = { readonly path: string; readonly etag: string };

/** The files of a stage whose rows a commit adds to a branch of a table. */
export type StageLoads = {
  readonly stageId: string;
  readonly branch: string;
  /** Also those that were loaded before. */
  readonly again: boolean;
  readonly files: readonly StagedFile[];
};

/** The change that a commit makes to the loaded files of a table: some are loaded, or those of a branch are forgotten, because its rows are gone. */
export type LoadsChange = { readonly loaded: StageLoads } | { readonly forgotten: { readonly branch: string } };

/** Members of a table's change in a commit between services, beside those of the REST specification. */
const LOADED = 'loaded-files';
const FORGOTTEN = 'forgotten-files';

/** The change as a member of a table's change. */
export function printLoads(change: LoadsChange | undefined): JsonObject {
  if (change === undefined) return {};
  if ('forgotten' in change) return { [FORGOTTEN]: { branch: change.forgotten.branch } };
  const { stageId, branch, again, files } = change.loaded;
  return { [LOADED]: { 'stage-id': stageId, branch, again, files: files.map(({ path, etag }) => [path, etag]) } };
}

/** Reads what `printLoads` has printed; undefined when there is none, or something else. */
export function readLoads(change: Json): LoadsChange | undefined {
  const { [LOADED]: loaded, [FORGOTTEN]: forgotten } = isObject(change) ? change : {};
  if (isObject(forgotten) && typeof forgotten['branch'] === 'string') {
    return { forgotten: { branch: forgotten['branch'] } };
  }
  if (!isObject(loaded)) return undefined;
  const { 'stage-id': stageId, branch, again, files } = loaded;
  if (typeof stageId !== 'string' || typeof branch !== 'string' || !Array.isArray(files)) return undefined;
  return { loaded: { stageId, branch, again: again === true, files: (files as readonly Json[]).flatMap(readFile) } };
}

function readFile(file: Json): readonly StagedFile[] {
  const [path, etag] = Array.isArray(file) ? (file as readonly Json[]) : [];
  return typeof path === 'string' && typeof etag === 'string' ? [{ path, etag }] : [];
}
