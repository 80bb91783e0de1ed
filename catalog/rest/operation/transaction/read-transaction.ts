import { SkeinError } from '#shared/error.ts';
import { printJson, type Json } from '#shared/json.ts';
import { parseCommit } from '../../../commit/commit-metadata.ts';
import { sourceOfCommit, type CommitSource } from '../../../commit/commit-source.ts';
import { documentTask } from '../../../commit/document-task.ts';
import { asObject, get, optionalString, requiredArray } from '../../../commit/json-reader.ts';
import { displayIdent, type TableIdent } from '../../../store/postgres/table-store.ts';
import { parseBody } from '../../body.ts';
import { identOfJson } from '../../names.ts';

/** Maximum number of tables of one transaction. */
const TABLES_MAX = 100;

/** A transaction over several tables; each may name its catalog, and the whole may name one for all. */
export type Transaction = {
  readonly catalog: string | undefined;
  readonly changes: readonly {
    readonly ident: TableIdent;
    readonly catalog: string | undefined;
    readonly source: CommitSource;
  }[];
};

/** @throws INVALID_REQUEST */
export function readTransaction(body: Json | undefined): Transaction {
  const object = asObject(body, 'commit transaction request');
  const list = requiredArray(object, 'table-changes');
  if (list.length === 0 || list.length > TABLES_MAX) {
    throw new SkeinError(
      'INVALID_REQUEST',
      `Invalid transaction: it changes ${list.length} tables, 1 to ${TABLES_MAX} are allowed`,
    );
  }
  return { catalog: optionalString(object, 'catalog'), changes: list.map(readChange) };
}

function readChange(json: Json): Transaction['changes'][number] {
  const identifier = get(asObject(json, 'table change'), 'identifier');
  const ident = identOfJson(identifier, 'identifier');
  const catalog = optionalString(asObject(identifier, 'identifier'), 'catalog');
  try {
    return { ident, catalog, source: sourceOfCommit(parseCommit(json)) };
  } catch (error) {
    if (!(error instanceof SkeinError)) throw error;
    throw new SkeinError(error.code, `${displayIdent(ident)}: ${error.message}`, { cause: error });
  }
}

/** Runs in a worker thread; the change of each table stays text. */
function readLargeTransaction(bytes: Uint8Array): Transaction {
  const body = parseBody(bytes);
  const { catalog, changes } = readTransaction(body);
  const texts = requiredArray(asObject(body, 'commit transaction request'), 'table-changes');
  return {
    catalog,
    changes: changes.map((change, i) => ({
      ...change,
      source: { creates: change.source.creates, bytes: Buffer.from(printJson(texts[i])) },
    })),
  };
}

export const READ_TRANSACTION = documentTask(readLargeTransaction, 'readLargeTransaction');
