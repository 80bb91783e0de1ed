import {
  DataType,
  Precision,
  RecordBatchReader,
  TimeUnit,
  Type,
  type Field,
  type RecordBatch,
  type Schema,
} from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { SessionKey } from '../../session/session-store.ts';
import { framed } from './arrow-message.ts';
import { parameterAt } from './arrow-value.ts';
import { fewerInserts, type Execution } from './bound-executions.ts';
import { describe } from './prepare.ts';
import { beginTransaction, endTransaction } from './end-transaction.ts';
import type { FlightDoor } from './flight-door.ts';
import type { SqlMessages } from './flight-messages.ts';
import { transactionKey, transactionOf } from './flight-transactions.ts';
import type { PutMessage } from './put-stream.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

type Ingest = SqlMessages['CommandStatementIngest'][1];
type Asked = { readonly fields: Ingest; readonly messages: AsyncIterable<PutMessage>; readonly gone: AbortSignal };

/** Loads the rows of a stream into a table, which it may make: all of them, or none. Answers how many. @throws SkeinError, StatementFailure */
export async function ingest(door: FlightDoor, visit: Visit, asked: Asked): Promise<number> {
  if (asked.fields.temporary) throw new SkeinError('NOT_SUPPORTED', 'there are no temporary tables');
  const given = transactionOf(visit.session, asked.fields.transaction_id);
  if (given !== undefined) return load(door, visit, asked, given);
  const id = await beginTransaction(door, visit);
  try {
    const rows = await load(door, visit, asked, transactionKey(visit.session, id));
    await endTransaction(door, visit, Buffer.from(id), true);
    return rows;
  } catch (error) {
    await endTransaction(door, visit, Buffer.from(id), false).catch(() => undefined);
    throw error;
  }
}

async function load(
  door: FlightDoor,
  visit: Visit,
  { fields, messages, gone }: Asked,
  transaction: SessionKey,
): Promise<number> {
  const run = (one: Execution): Promise<number> => runToEnd(door, visit, { ...one, transaction, gone });
  const target = targetOf(fields);
  const reader = await RecordBatchReader.from(bytesOf(messages));
  await reader.open();
  const create = createOf(fields, target, reader.schema);
  if (create === 'must exist')
    await describe(door, visit, { text: { sql: `SELECT * FROM ${target}`, transaction }, gone });
  else await run({ sql: create, parameters: null });
  const columns = reader.schema.fields.map(({ name }) => quoteIdentifier(name)).join(', ');
  const marks = reader.schema.fields.map(() => '?').join(', ');
  const sql = `INSERT INTO ${target} (${columns}) VALUES (${marks})`;
  let rows = 0;
  for await (const batch of reader as AsyncIterable<RecordBatch>) {
    for (const insert of fewerInserts(rowsOf(batch, sql))) rows += await run(insert);
  }
  return rows;
}

const rowsOf = (batch: RecordBatch, sql: string): readonly Execution[] =>
  Array.from({ length: batch.numRows }, (_, row) => ({
    sql,
    parameters: { kind: 'positional', values: batch.data.children.map((column) => parameterAt(column, row)) },
  }));

async function* bytesOf(messages: AsyncIterable<PutMessage>): AsyncGenerator<Uint8Array, void> {
  for await (const { header, body } of messages) {
    if (header.length > 0) yield new Uint8Array(Buffer.concat([framed(header), body]));
  }
}

const targetOf = ({ catalog, schema, table }: Ingest): string =>
  [catalog, schema, table]
    .flatMap((part) => (part === undefined || part === '' ? [] : [quoteIdentifier(part)]))
    .join('.');

/** The statement that makes the table; "must exist" when it is to be there. @throws INVALID_REQUEST, NOT_SUPPORTED */
function createOf({ table_definition_options: options }: Ingest, target: string, schema: Schema): string {
  const creates = options?.if_not_exist === 'TABLE_NOT_EXIST_OPTION_CREATE';
  const columns = (): string => schema.fields.map(columnOf).join(', ');
  const exists = options?.if_exists;
  if (exists === 'TABLE_EXISTS_OPTION_APPEND') {
    return creates ? `CREATE TABLE IF NOT EXISTS ${target} (${columns()})` : 'must exist';
  }
  if (exists === 'TABLE_EXISTS_OPTION_REPLACE') return `CREATE OR REPLACE TABLE ${target} (${columns()})`;
  if (creates) return `CREATE TABLE ${target} (${columns()})`;
  throw new SkeinError('INVALID_REQUEST', 'the ingest neither makes a table nor takes one that is there');
}

const columnOf = ({ name, type }: Field): string => `${quoteIdentifier(name)} ${columnType(type)}`;

/** The type of a column that holds every value of an Arrow type. @throws NOT_SUPPORTED */
function columnType(type: DataType): string {
  if (DataType.isBool(type)) return 'BOOLEAN';
  if (DataType.isInt(type)) return integerType(type.bitWidth, type.isSigned);
  if (DataType.isFloat(type)) return type.precision === Precision.SINGLE ? 'FLOAT' : 'DOUBLE';
  if (DataType.isDecimal(type)) return `DECIMAL(${type.precision}, ${type.scale})`;
  if (DataType.isUtf8(type) || DataType.isLargeUtf8(type)) return 'VARCHAR';
  if (DataType.isBinary(type) || DataType.isLargeBinary(type) || DataType.isFixedSizeBinary(type)) return 'BINARY';
  if (DataType.isDate(type)) return 'DATE';
  if (DataType.isTime(type)) return 'TIME';
  if (DataType.isTimestamp(type) && type.unit !== TimeUnit.NANOSECOND) {
    return type.timezone ? 'TIMESTAMP WITH TIME ZONE' : 'TIMESTAMP';
  }
  throw new SkeinError(
    'NOT_SUPPORTED',
    `no column is made for the Arrow type ${Type[type.typeId]}: make the table before`,
  );
}

function integerType(bits: number, isSigned: boolean): string {
  if (bits < 32 || (bits === 32 && isSigned)) return 'INT';
  return bits === 64 && !isSigned ? 'DECIMAL(20, 0)' : 'BIGINT';
}
