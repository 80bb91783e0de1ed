import type { Field, Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { ArrivedRows } from '../../arrival/arrived-rows.ts';
import { arrivedType } from '../../arrival/arrived-type.ts';
import { readBatches } from '../../arrival/read-batches.ts';
import { ARRIVED_ROWS } from '../../binding/table-rows.ts';
import type { SqlType } from '../../plan/sql-type.ts';
import type { SessionKey } from '../../session/session-store.ts';
import { inTransaction } from './end-transaction.ts';
import type { FlightDoor } from './flight-door.ts';
import type { SqlMessages } from './flight-messages.ts';
import { transactionOf } from './flight-transactions.ts';
import type { PutMessage } from './put-stream.ts';
import { describeForClient } from './prepare.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

type Ingest = SqlMessages['CommandStatementIngest'][1];
type Asked = { readonly fields: Ingest; readonly messages: AsyncIterable<PutMessage>; readonly gone: AbortSignal };

/** Loads the rows of a stream into a table, which it may make: all of them, or none. Answers how many. @throws SkeinError, StatementFailure */
export async function ingest(door: FlightDoor, visit: Visit, asked: Asked): Promise<number> {
  if (asked.fields.temporary) throw new SkeinError('NOT_SUPPORTED', 'there are no temporary tables');
  const given = transactionOf(visit.session, asked.fields.transaction_id);
  const { schema, batches } = await readBatches(asked.messages);
  // A table that cannot be made, or is not there, is an error before the rows come.
  const create = createOf(asked.fields, schema);
  if (create === null) {
    const sql = `SELECT * FROM ${targetOf(asked.fields)}`;
    await describeForClient(door, visit, { text: { sql, transaction: given }, gone: asked.gone });
  }
  const precise = create === null ? 'nanoseconds' : PRECISE;
  using rows = new ArrivedRows(schema, { ...door.arrivals, owner: visit.session.tenant }, precise);
  for await (const batch of batches) {
    asked.gone.throwIfAborted();
    await rows.add(batch);
  }
  const load: Load = { target: targetOf(asked.fields), create, schema, rows, gone: asked.gone };
  if (given !== undefined || create === null) return await loadRows(door, visit, load, given);
  return await inTransaction(door, visit, (transaction) => loadRows(door, visit, load, transaction));
}

/** Columns that an ingest makes have microseconds, as those of most engines do: pandas sends all timestamps in nanoseconds. */
const PRECISE = 'microseconds';

type Load = {
  readonly target: string;
  /** The statement that makes the table; null = it is to be there. */
  readonly create: string | null;
  readonly schema: Schema;
  readonly rows: ArrivedRows;
  readonly gone: AbortSignal;
};

/** Makes the table, and writes the rows at once. */
async function loadRows(
  door: FlightDoor,
  visit: Visit,
  { target, create, schema, rows, gone }: Load,
  transaction: SessionKey | undefined,
): Promise<number> {
  if (create !== null) await runToEnd(door, visit, { sql: create, parameters: null, transaction, gone });
  const columns = schema.fields.map(({ name }) => quoteIdentifier(name)).join(', ');
  const sql = `INSERT INTO ${target} (${columns}) SELECT * FROM ${ARRIVED_ROWS}`;
  const table = rows.table('the rows of the client');
  return runToEnd(door, visit, { sql, parameters: null, transaction, gone, rows: table });
}

const targetOf = ({ catalog, schema, table }: Ingest): string =>
  [catalog, schema, table]
    .flatMap((part) => (part === undefined || part === '' ? [] : [quoteIdentifier(part)]))
    .join('.');

/** The statement that makes the table; null when it is to be there. @throws INVALID_REQUEST, NOT_SUPPORTED */
function createOf(fields: Ingest, schema: Schema): string | null {
  const { table_definition_options: options } = fields;
  const target = targetOf(fields);
  const creates = options?.if_not_exist === 'TABLE_NOT_EXIST_OPTION_CREATE';
  const columns = (): string =>
    schema.fields
      .map((field) => `${quoteIdentifier(field.name)} ${columnType(field, arrivedType(field, PRECISE).sql)}`)
      .join(', ');
  const exists = options?.if_exists;
  if (exists === 'TABLE_EXISTS_OPTION_APPEND')
    return creates ? `CREATE TABLE IF NOT EXISTS ${target} (${columns()})` : null;
  if (exists === 'TABLE_EXISTS_OPTION_REPLACE') return `CREATE OR REPLACE TABLE ${target} (${columns()})`;
  if (creates) return `CREATE TABLE ${target} (${columns()})`;
  throw new SkeinError('INVALID_REQUEST', 'the ingest neither makes a table nor takes one that is there');
}

/** Types of columns that hold all values of others. */
const WIDER: Readonly<Record<string, string>> = {
  TINYINT: 'INT',
  SMALLINT: 'INT',
  UTINYINT: 'INT',
  USMALLINT: 'INT',
  INTEGER: 'INT',
  UINTEGER: 'BIGINT',
  UBIGINT: 'DECIMAL(20, 0)',
  BLOB: 'BINARY',
};

/** The type of a column that holds every value of a type. @throws NOT_SUPPORTED */
function columnType(field: Field, type: SqlType): string {
  switch (type.kind) {
    case 'scalar':
      if (type.name !== 'INTERVAL') return WIDER[type.name] ?? type.name;
      throw new SkeinError(
        'NOT_SUPPORTED',
        `column ${field.name}: no column is made for the Arrow type ${String(field.type)}, make the table before`,
      );
    case 'decimal':
      return `DECIMAL(${type.width}, ${type.scale})`;
    case 'list':
    case 'array':
      return `${columnType(field, type.element)}[]`;
    case 'struct':
      return `STRUCT(${type.fields.map(({ name, type: own }) => `${quoteIdentifier(name)} ${columnType(field, own)}`).join(', ')})`;
    case 'map':
      return `MAP(${columnType(field, type.key)}, ${columnType(field, type.value)})`;
    case 'enum':
    case 'union':
      throw new Error('invariant: rows that come in have no such type');
    default:
      return unreachable(type);
  }
}
