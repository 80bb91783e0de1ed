import type { Schema } from 'apache-arrow';
import { SkeinError } from '#shared/error.ts';
import { ArrivedRows } from '../../../arrival/arrived-rows.ts';
import { copiedBatch, copiedSchema } from '../../../arrival/copied/copied-batch.ts';
import { READ_ROWS } from '../../../arrival/copied/read-rows.ts';
import type { CopiedColumn, RowFault, RowFormat } from '../../../arrival/copied/row-format.ts';
import type { Asker } from '#shared/fair/asker.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import type { PostgresDoor } from '../entry/postgres-door.ts';
import { protocolViolation, WireError } from '../message/wire-error.ts';
import type { WireReader } from '../message/wire-reader.ts';

/** Bytes that are read in one turn of a thread. */
const TURN_BYTES = 2 ** 20;
/** Longest row, as `ArrivedRows` has it. */
const ROW_BYTES_MAX = 32 * 2 ** 20;
/** Longest message beside those with rows: it may say why a COPY fails. */
const MESSAGE_BYTES_MAX = 64 * 2 ** 10;

/** Rows that a client sends, and how they are written. */
export type CopyIn = {
  /** The name of the table, for messages. */
  readonly table: string;
  readonly columns: readonly CopiedColumn[];
  readonly format: RowFormat;
  readonly asker: Asker;
  readonly memory: ConnectionMemory;
  readonly signal: AbortSignal;
};

/** A fault of a row of COPY, with its place. */
export const copyError = (table: string, { sqlState, message, line, column, text }: RowFault): WireError =>
  new WireError(sqlState, message, contextOf(table, { line, column, text }));

const TEXT_MAX = 100;

/** `COPY t, line 3, column a: "x"` */
function contextOf(table: string, { line, column, text }: Pick<RowFault, 'line' | 'column' | 'text'>): string {
  const place = `COPY ${table}, line ${line}${column === null ? '' : `, column ${column}`}`;
  return text === null ? place : `${place}: "${text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text}"`;
}

/**
 * Takes the rows of COPY FROM STDIN to the end. They lie on disk until the write; texts become columns in a thread, which has no more of them
 * than a part. @throws WireError for rows that are not as they should be, SkeinError
 */
export async function receiveRows(door: PostgresDoor, reader: WireReader, copy: CopyIn): Promise<ArrivedRows> {
  const schema = copiedSchema(copy.columns);
  const rows = new ArrivedRows(schema, { ...door.arrivals, owner: copy.asker.tenant }, 'microseconds');
  try {
    using receiver = new Receiver(door, copy, { rows, schema });
    await reader.until(copy.signal, () => receiver.receive(reader));
    return rows;
  } catch (error) {
    rows[Symbol.dispose]();
    throw error;
  }
}

class Receiver implements Disposable {
  readonly #door: PostgresDoor;
  readonly #copy: CopyIn;
  readonly #rows: ArrivedRows;
  readonly #schema: Schema;
  #waiting: Buffer[] = [];
  #bytes = 0;
  /** Bytes from which on a whole row is expected. */
  #turn = TURN_BYTES;
  #line = 1;
  #isFirst = true;
  #isEnd = false;

  constructor(
    door: PostgresDoor,
    copy: CopyIn,
    { rows, schema }: { readonly rows: ArrivedRows; readonly schema: Schema },
  ) {
    this.#door = door;
    this.#copy = copy;
    this.#rows = rows;
    this.#schema = schema;
  }

  async receive(reader: WireReader): Promise<void> {
    for (;;) {
      const message = await reader.copied(MESSAGE_BYTES_MAX);
      if (message === undefined) throw new SkeinError('QUERY_CANCELLED', 'the client has disconnected');
      this.#copy.signal.throwIfAborted();
      const { type, body } = message;
      if (type === 'd') {
        const bytes = body.rest();
        this.#copy.memory.take(bytes.length);
        this.#waiting.push(bytes);
        this.#bytes += bytes.length;
        if (this.#bytes >= this.#turn) await this.#read(false);
      } else if (type === 'c') {
        await this.#read(true);
        return;
      } else if (type === 'f') {
        throw new WireError('57014', `COPY from stdin failed: ${body.text()}`);
      } else if (type !== 'H' && type !== 'S') {
        throw protocolViolation(`unexpected message type ${JSON.stringify(type)} during COPY from stdin`);
      }
    }
  }

  async #read(isLast: boolean): Promise<void> {
    const bytes = Buffer.concat(this.#waiting);
    if (this.#isEnd) {
      this.#keep(Buffer.alloc(0));
      return;
    }
    const { columns, format, asker, signal, table } = this.#copy;
    const input = { bytes, isLast, isFirst: this.#isFirst, line: this.#line, format, columns };
    const about = { asker, what: 'the rows of COPY', bytes: bytes.length, signal };
    const read = await this.#door.texts.work(READ_ROWS, input, about);
    if (read.fault !== null) throw copyError(table, read.fault);
    const rest = bytes.subarray(read.consumed);
    if (rest.length > ROW_BYTES_MAX) throw new WireError('54000', `a row of COPY has at most ${ROW_BYTES_MAX} bytes`);
    const turn = read.consumed === 0 ? 2 * bytes.length : Math.max(TURN_BYTES, 2 * rest.length);
    this.#turn = Math.min(turn, ROW_BYTES_MAX + 1);
    this.#isFirst &&= read.consumed === 0;
    this.#isEnd = read.isEnd;
    this.#line = read.line;
    // A copy: a part would keep all of it in memory.
    this.#keep(Buffer.from(rest));
    if (read.rows > 0) await this.#rows.add(copiedBatch(this.#schema, read));
  }

  #keep(rest: Buffer): void {
    this.#copy.memory.give(this.#bytes - rest.length);
    [this.#waiting, this.#bytes] = [[rest], rest.length];
  }

  [Symbol.dispose](): void {
    this.#copy.memory.give(this.#bytes);
    this.#bytes = 0;
  }
}
