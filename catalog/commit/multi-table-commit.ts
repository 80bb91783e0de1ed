import { SkeinError } from '#shared/error.ts';
import { printJson, type Json } from '#shared/json.ts';
import { parseCommit } from '../metadata/commit-metadata.ts';
import { sourceOfCommit, type CommitSource } from '../metadata/commit-source.ts';
import { readLoads, type LoadsChange } from '#shared/iceberg/stage-loads.ts';
import { POLICY_VERSION } from '#shared/policy/policy-version.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import type { TableChange } from './commit-tables.ts';
import type { Principal } from '#shared/authorization/principal.ts';
import { requireAction } from '../authorization/decide.ts';
import { BODY_BYTES_HERE, documentTask } from '../metadata/document-task.ts';
import { COMMIT_THREAD } from './commit-thread.ts';
import { asObject, get, optionalString, requiredArray } from '../metadata/json-reader.ts';
import { displayIdent, type TableIdent } from '../metadata/object-name.ts';
import { parseBody } from '../metadata/body.ts';
import { identOfJson } from '../metadata/check-name.ts';
import { readViewChange, type ViewChange } from './view/view-change.ts';

/** Maximum number of tables of one transaction. */
const TABLES_MAX = 100;

/** A transaction over several tables; each may name its catalog, and the whole may name one for all. */
export type MultiTableCommit = {
  readonly catalog: string | undefined;
  readonly changes: readonly {
    readonly ident: TableIdent;
    readonly catalog: string | undefined;
    /** The UUID that the table must have, if the change requires one. */
    readonly uuid: string | undefined;
    readonly source: CommitSource;
    readonly loads: LoadsChange | undefined;
    /** The version of the table's policies that the change holds for. */
    readonly policyVersion: string | undefined;
  }[];
  /** Only the coordinator's commits have one. */
  readonly view: ViewChange | undefined;
};

/** @throws INVALID_REQUEST */
export function readMultiTableCommit(body: Json | undefined): MultiTableCommit {
  const object = asObject(body, 'commit transaction request');
  const list = requiredArray(object, 'table-changes');
  if (list.length === 0 || list.length > TABLES_MAX) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Invalid transaction: it changes ${list.length} tables, 1 to ${TABLES_MAX} are allowed`,
    );
  }
  return {
    catalog: optionalString(object, 'catalog'),
    changes: list.map(readChange),
    view: readViewChange(get(object, 'view-change')),
  };
}

function readChange(json: Json): MultiTableCommit['changes'][number] {
  const identifier = get(asObject(json, 'table change'), 'identifier');
  const ident = identOfJson(identifier, 'identifier');
  const catalog = optionalString(asObject(identifier, 'identifier'), 'catalog');
  try {
    const request = parseCommit(json);
    const uuid = request.requirements.find((one) => one.kind === 'assert-table-uuid')?.uuid;
    const policyVersion = optionalString(asObject(json, 'table change'), POLICY_VERSION);
    return { ident, catalog, uuid, source: sourceOfCommit(request), loads: readLoads(json), policyVersion };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `${displayIdent(ident)}: ${error.message}`, { cause: error });
  }
}

/** Runs in a worker thread; the change of each table stays text. */
function readLargeMultiTableCommit(bytes: Uint8Array): MultiTableCommit {
  const body = parseBody(bytes);
  const { catalog, changes, view } = readMultiTableCommit(body);
  const texts = requiredArray(asObject(body, 'commit transaction request'), 'table-changes');
  return {
    catalog,
    view,
    changes: changes.map((change, i) => ({
      ...change,
      source: { creates: change.source.creates, bytes: Buffer.from(printJson(texts[i])) },
    })),
  };
}

export const READ_MULTI_TABLE_COMMIT = documentTask(
  readLargeMultiTableCommit,
  'readLargeMultiTableCommit',
  COMMIT_THREAD,
);

/** Reads a large transaction in a worker thread. @throws INVALID_REQUEST */
export const readMultiTableCommitApart = (
  readers: WorkPool,
  bytes: Uint8Array,
  owner: string,
): Promise<MultiTableCommit> => readers.run(READ_MULTI_TABLE_COMMIT.apart, bytes, { owner, what: 'a request body' });

/** Reads a transaction of any size. @throws INVALID_REQUEST */
export const multiTableCommitOfBytes = async (
  readers: WorkPool,
  bytes: Uint8Array,
  owner: string,
): Promise<MultiTableCommit> =>
  bytes.length <= BODY_BYTES_HERE
    ? readMultiTableCommit(parseBody(bytes))
    : readMultiTableCommitApart(readers, bytes, owner);

/**
 * Returns the changes of a transaction for `commitTables`, all of which the caller may make. The catalog of a table is `prefix`, else what its identifier names, else
 * `fallback`. @param mayLoad the caller's changes may say which files of stages they load; those of other clients never do.
 * @throws INVALID_REQUEST when a table has no catalog, or is changed twice, FORBIDDEN
 */
export function tableChanges(
  transaction: MultiTableCommit,
  claims: Principal,
  {
    prefix,
    fallback,
    mayLoad = false,
    isOfClient,
  }: {
    readonly prefix?: string | undefined;
    readonly fallback?: string | undefined;
    readonly mayLoad?: boolean;
    readonly isOfClient?: true | undefined;
  },
): readonly TableChange[] {
  const changes = transaction.changes.map(({ ident, catalog: own, source, loads, policyVersion }): TableChange => {
    const catalog = prefix ?? own ?? fallback;
    if (catalog === undefined) {
      throw new SkeinError('INVALID_REQUEST', `${displayIdent(ident)}: which catalog? Name it by "catalog"`);
    }
    requireAction(claims, 'table.commit', { kind: 'table', catalog, ...ident });
    return {
      target: { claims, catalog, ident },
      source,
      ...(mayLoad && loads !== undefined ? { loads } : {}),
      ...(mayLoad && policyVersion !== undefined ? { policyVersion } : {}),
      ...(isOfClient === true ? { isOfClient } : {}),
    };
  });
  const names = new Set(changes.map(({ target }) => JSON.stringify([target.catalog, target.ident])));
  if (names.size < changes.length) {
    throw new SkeinError('INVALID_REQUEST', `Invalid transaction: a table is changed twice`);
  }
  return changes;
}
