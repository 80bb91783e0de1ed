import { closeSync, openSync, readSync } from 'node:fs';
import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import { ArrowInput, type ArrowBatch, type ArrowRows } from '../duckdb/arrow-in.ts';
import { checkBatch } from '../duckdb/check-batch.ts';
import { inputCall, inputName } from '../duckdb/input-functions.ts';
import { readBatch, readSchema } from '../duckdb/ipc-message.ts';
import { addressOf, readBytes } from '../duckdb/memory.ts';
import { decodeFlightData, headerOf } from '#shared/flight/flight-data.ts';
import type { StoredBatch } from '../spool/spooled-output.ts';
import type { TaskInstance } from '../duckdb/instance-pool.ts';
import type { JobInput } from '../turns/slot-messages.ts';

/**
 * The inputs of one task in its instance. An input that is in memory and is read once, by one core, becomes a table function whose chunks
 * refer to the batches without a copy; any other becomes a temporary table, filled during the task's quanta.
 */
export class TaskInputs implements Disposable {
  readonly #instance: TaskInstance;
  readonly #inputs: ArrowInput[] = [];
  readonly #tables: string[] = [];
  readonly #fills: Iterable<void>[] = [];
  /** The SQL that replaces each input's placeholder in the task's text. */
  readonly texts: readonly string[];

  constructor(instance: TaskInstance, inputs: readonly JobInput[], threads: number) {
    this.#instance = instance;
    this.texts = inputs.map((input, index) => this.#open(input, index, threads));
  }

  #open(job: JobInput, index: number, threads: number): string {
    const name = inputName(index);
    const types = job.columns.map(({ type }) => type);
    if (job.prologue.length === 0) {
      const list = job.columns.map((column) => `${quoteIdentifier(column.name)} ${column.type}`);
      this.#instance.connection.run(`CREATE OR REPLACE TEMP TABLE ${name} (${list.join(', ')})`);
      this.#tables.push(name);
      return tableText(name, threads);
    }
    const input = new ArrowInput(this.#instance.connection, readRows(job));
    this.#inputs.push(input);
    if (threads === 1 && job.reads <= 1 && job.batches.every(({ at }) => at.kind === 'memory')) {
      this.#instance.inputs.set(index, input);
      // A dictionary is read as its values, and the text expects exactly these types; a cast to the existing type costs nothing.
      const list = job.columns.map((column) => {
        const quoted = quoteIdentifier(column.name);
        return `CAST(${quoted} AS ${column.type}) AS ${quoted}`;
      });
      return `(SELECT ${list.join(', ')} FROM ${inputCall(index)})`;
    }
    this.#tables.push(name);
    this.#fills.push(input.fillTable(name, types));
    return tableText(name, threads);
  }

  /** Fills the temporary tables, step by step. */
  *load(): Generator<void> {
    for (const fill of this.#fills) yield* fill;
  }

  /** Whether the instance holds tables that `drop` has not removed. */
  get hasTables(): boolean {
    return this.#tables.length > 0;
  }

  drop(): void {
    for (const name of this.#tables.splice(0)) this.#instance.connection.run(`DROP TABLE IF EXISTS temp.main.${name}`);
  }

  /** Frees the inputs; no statement may read them any more. */
  [Symbol.dispose](): void {
    this.#instance.inputs.clear();
    for (const input of this.#inputs) input[Symbol.dispose]();
  }
}

/**
 * Prints an input that is a temporary table. DuckDB evaluates a filter that it has moved into the scan of a table without a pause over up
 * to 50 row groups, six million rows. An OFFSET keeps the filter above the scan, where a piece ends after a hundred thousand; a task of
 * several cores does without, because an OFFSET in the order of the rows takes one.
 */
const tableText = (name: string, threads: number): string =>
  threads === 1 ? `(SELECT * FROM temp.main.${name} OFFSET 0)` : `temp.main.${name}`;

function readRows({ columns, prologue, batches }: JobInput): ArrowRows {
  const [schema, ...dictionaries] = prologue.map(decodeFlightData);
  const fields = readSchema(schema?.header ?? new Uint8Array());
  if (fields.length !== columns.length)
    throw new SkeinError('INTERNAL_ERROR', 'an input has other columns than its task');
  const values = dictionaries.map(({ header, body }) => {
    // Copied, because the body of a message may be unaligned.
    const owner = body.slice();
    return readBatch(header, { address: addressOf(owner), bytes: owner.length, owner });
  });
  const checked = (stored: StoredBatch): ArrowBatch => {
    const batch = readStored(stored);
    checkBatch(fields, batch, values);
    return batch;
  };
  return {
    fields: fields.map((field, i) => ({ ...field, name: columns[i]?.name ?? field.name })),
    dictionaries: values,
    rows: batches.reduce((sum, batch) => sum + batch.rows, 0),
    batches: { [Symbol.iterator]: () => batches.values().map(checked) },
  };
}

/** References a batch in memory, or reads one from its file. @throws STORAGE_ERROR */
function readStored({ at, bytes, bodyOffset }: StoredBatch): ArrowBatch {
  if (at.kind === 'memory') {
    const body = { address: at.start + BigInt(bodyOffset), bytes: bytes - bodyOffset, owner: undefined };
    return readBatch(headerOf(readBytes(at.start, bodyOffset)), body);
  }
  const padding = -bodyOffset & 7;
  const owner = Buffer.allocUnsafeSlow(padding + bytes).subarray(padding);
  readFully(at.path, owner, at.offset);
  const address = addressOf(owner) + BigInt(bodyOffset);
  return readBatch(headerOf(owner), { address, bytes: bytes - bodyOffset, owner });
}

function readFully(path: string, target: Buffer, offset: number): void {
  try {
    const file = openSync(path, 'r');
    try {
      let filled = 0;
      while (filled < target.length) {
        const read = readSync(file, target, filled, target.length - filled, offset + filled);
        if (read === 0) throw new Error('the file is cut short');
        filled += read;
      }
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new SkeinError('STORAGE_ERROR', 'the spool cannot be read', { cause: error });
  }
}
