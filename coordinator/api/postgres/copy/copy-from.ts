import type { Asker } from '#shared/fair/asker.ts';
import type { ArrivedRows } from '../../../arrival/arrived-rows.ts';
import type { TableRows } from '../../../binding/table-rows.ts';
import type { StatementDescription } from '../../../operation/description.ts';
import type { DoorSink, ResultBatch } from '../../../sink/result-sink.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import { copyError, receiveRows } from './copy-in.ts';
import type { CopyStatement } from './copy-statement.ts';
import { copiedColumns, describingInsert, faultsOfCopied, insertOfCopied } from './copy-target.ts';
import type { PostgresDoor } from '../entry/postgres-door.ts';
import { copyIn } from '../message/server-messages.ts';
import { StatementError } from '../message/wire-error.ts';
import type { WireReader } from '../message/wire-reader.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** The connection as COPY FROM STDIN needs it. */
export type CopyConnection = {
  readonly door: PostgresDoor;
  readonly reader: WireReader;
  readonly writer: WireWriter;
  readonly memory: ConnectionMemory;
  /** Called when the client is asked for rows: what it sends from then on is part of the COPY. */
  readonly begins: () => void;
  readonly asker: Asker;
  /** @throws StatementError with a place in the statement */
  readonly describe: (sql: string) => Promise<StatementDescription>;
  /** Does work that a CancelRequest ends. */
  readonly abortable: <T>(work: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Runs the write. @throws StatementError */
  readonly write: (sql: string, rows: TableRows) => Promise<void>;
  /** Runs a query over the rows, outside of any transaction. */
  readonly query: (sql: string, rows: TableRows, sink: DoorSink) => Promise<void>;
};

type CopyFrom = Extract<CopyStatement, { direction: 'in' }>;

/** Takes rows from the client, and writes them at once: all of them, or none. @returns how many @throws WireError, StatementError, SkeinError */
export async function copyFrom(copy: CopyFrom, connection: CopyConnection): Promise<number> {
  const { door, reader, writer, memory, asker } = connection;
  const description = await connection.describe(describingInsert(copy));
  const types = (description.kind === 'rows' ? description.columns : null) ?? [];
  const columns = copiedColumns(types, copy);
  writer.push(copyIn(copy.options.format === 'binary', columns.length));
  connection.begins();
  await writer.flush();
  using rows = await connection.abortable((signal) =>
    receiveRows(door, reader, { table: copy.name, columns, format: copy.options, asker, memory, signal }),
  );
  if (rows.rowCount === 0) return 0;
  try {
    await connection.write(insertOfCopied(copy, types), rows.table('the rows of COPY'));
  } catch (error) {
    throw (await faultOf(error, { copy, types, rows, connection })) ?? error;
  }
  return rows.rowCount;
}

type Failed = {
  readonly copy: CopyFrom;
  readonly types: Parameters<typeof insertOfCopied>[1];
  readonly rows: ArrivedRows;
  readonly connection: CopyConnection;
};

/** The error of a value that could not be converted, with its place; undefined for other errors. */
async function faultOf(error: unknown, { copy, types, rows, connection }: Failed): Promise<Error | undefined> {
  if (!(error instanceof StatementError)) return undefined;
  const { sqlState } = error.error.entry;
  const faults = sqlState.startsWith('22') ? faultsOfCopied(types) : null;
  // Its place is one of a text that the client has not sent.
  const message = error.message.replace(/ \(line \d+, column \d+\)$/, '');
  const plain = { sqlState, message };
  if (faults === null) return undefined;
  const sink = new OneRow();
  try {
    await connection.query(faults.sql, rows.table('the rows of COPY'), sink);
  } catch {
    return undefined;
  }
  const found = faults.columns.flatMap((column, i) => {
    const [line, text] = [sink.row[2 * i], sink.row[2 * i + 1]];
    return typeof line === 'number'
      ? [{ line, column: types[column]?.name ?? null, text: typeof text === 'string' ? text : null }]
      : [];
  });
  const [first] = found.toSorted((a, b) => a.line - b.line);
  return first === undefined ? undefined : copyError(copy.name, { ...plain, ...first });
}

/** Takes a result of one row. */
class OneRow implements DoorSink {
  readonly encoding = 'json';
  readonly committed = false;
  readonly progress = 0;
  #text = '';

  get row(): readonly unknown[] {
    const rows: unknown = JSON.parse(`[${this.#text.slice(1)}]`);
    const first: unknown = Array.isArray(rows) ? rows[0] : undefined;
    return Array.isArray(first) ? first : [];
  }

  planned(): void {}

  start(): void {
    this.#text = '';
  }

  batch({ body }: ResultBatch): undefined {
    this.#text += body.toString();
  }

  changed(): void {}

  finish(): void {}
}
