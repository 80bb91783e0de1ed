import { must } from '#shared/must.ts';
import { ArrivedRows } from '../../../arrival/arrived-rows.ts';
import { ColumnBuilder } from '../../../arrival/copied/column-builder.ts';
import { copiedBatch, copiedSchema } from '../../../arrival/copied/copied-batch.ts';
import type { CopiedColumn } from '../../../arrival/copied/row-format.ts';
import type { ScalarKind } from '../../../arrival/postgres/value-kind.ts';
import { ARRIVED_ROWS } from '../../../binding/table-rows.ts';
import { fewerInserts, insertOfArrived } from '../../../command/bound-insert.ts';
import { sizeOf, type Parameters } from '../../../statement/parameters.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import type { PostgresDoor } from '../entry/postgres-door.ts';
import { kindOfOid } from '../message/postgres-type.ts';
import type { PortalExecution, Statements } from './statements.ts';

/** A parameter as Bind has it. */
export type BoundValue = {
  readonly bytes: Buffer | null;
  readonly oid: number;
  readonly isBinary: boolean;
  /** The type as which the statement takes it. */
  readonly type: string;
};

/** An execution of a prepared INSERT of one row. */
export type BoundInsert = {
  readonly statement: MessageStatement;
  readonly parameters: Parameters | null;
  readonly values: readonly BoundValue[];
};

/** Executions that wait at most, and bytes of their values. */
const [COUNT_MAX, BYTES_MAX] = [10_000, 16 * 2 ** 20];
/** Memory that an execution takes beside its values, and a value beside its bytes. */
const [INSERT_BYTES, VALUE_BYTES] = [200, 100];

/**
 * Executions of one prepared INSERT that lie ready one behind the other: they become one write. Nobody has been answered yet, because no Sync
 * and no Flush has come, so that they may wait for those behind them.
 */
export class InsertBatch {
  readonly #door: PostgresDoor;
  readonly #statements: Statements;
  readonly #tenant: string;
  readonly #memory: ConnectionMemory;
  #waiting: BoundInsert[] = [];
  #bytes = 0;

  constructor(
    door: PostgresDoor,
    statements: Statements,
    { tenant, memory }: { readonly tenant: string; readonly memory: ConnectionMemory },
  ) {
    this.#door = door;
    this.#statements = statements;
    this.#tenant = tenant;
    this.#memory = memory;
  }

  get isEmpty(): boolean {
    return this.#waiting.length === 0;
  }

  get isFull(): boolean {
    return this.#waiting.length >= COUNT_MAX || this.#bytes >= BYTES_MAX;
  }

  /** Whether an execution can be one with those that wait. */
  takes({ statement, values }: BoundInsert): boolean {
    const [first] = this.#waiting;
    if (first === undefined) return true;
    // The same text may be prepared with parameters of other types, whose bytes mean something else.
    const isSame = ({ oid, type }: BoundValue, i: number): boolean => oid === values[i]?.oid && type === values[i].type;
    return first.statement.sql === statement.sql && first.values.every(isSame);
  }

  /** @throws WireError when there is no memory for it */
  add(insert: BoundInsert): void {
    const { parameters, values } = insert;
    const ofValues = parameters === null ? 0 : sizeOf(parameters);
    const bytes = INSERT_BYTES + values.length * VALUE_BYTES + ofValues;
    this.#memory.take(bytes);
    this.#waiting.push(insert);
    this.#bytes += bytes;
  }

  /** Runs all that wait. @throws WireError, StatementError, SkeinError */
  async run(place: PortalExecution['place']): Promise<void> {
    const all = this.#waiting;
    this.#memory.give(this.#bytes);
    [this.#waiting, this.#bytes] = [[], 0];
    const [first] = all;
    if (first === undefined) return;
    const { statement } = first;
    const sql = first.values.length === 0 ? undefined : insertOfArrived(statement.sql, all.length);
    if (sql !== undefined) return this.#runArrived(all, { ...statement, sql, place });
    const bound = all.map(({ parameters }) => ({ sql: statement.sql, parameters }));
    const executions = fewerInserts({ count: bound.length, all: bound }, statement.sql);
    for (let next = executions.next(); next.done !== true;) {
      const { value } = next;
      next = executions.next();
      const own = next.done === true ? place : 'others follow';
      await this.#statements.write({ ...statement, ...value, place: own });
    }
  }

  /** Many rows: their values come beside the statement, as columns. */
  async #runArrived(
    all: readonly BoundInsert[],
    execution: MessageStatement & Pick<PortalExecution, 'place'>,
  ): Promise<void> {
    const types = must(all[0], 'there is one').values;
    const columns = types.map(({ oid, type }, i) => columnOf(oid, type, i));
    const builders = columns.map((column) => new ColumnBuilder(column));
    for (const { values } of all) {
      builders.forEach((builder, i) => {
        const { bytes, isBinary } = must(values[i], 'each execution has all values');
        builder.add(bytes, isBinary);
      });
    }
    const schema = copiedSchema(columns);
    using rows = new ArrivedRows(schema, { ...this.#door.arrivals, owner: this.#tenant }, 'microseconds');
    const lines = Int32Array.from(all.keys());
    await rows.add(copiedBatch(schema, { rows: all.length, lines, columns: builders.map(({ made }) => made) }));
    const casts = types.map(({ type }, i) => castOf(i, type));
    const source = `(SELECT ${casts.join(', ')} FROM ${ARRIVED_ROWS})`;
    const sql = execution.sql.slice(0, -ARRIVED_ROWS.length) + source;
    await this.#statements.write({ ...execution, sql, parameters: null, rows: rows.table('the bound rows') });
  }
}

function columnOf(oid: number, type: string, i: number): CopiedColumn {
  const known = kindOfOid(oid);
  const kind = known?.kind ?? (type === 'BLOB' ? 'bytea' : 'text');
  const element = known?.kind === 'array' ? scalarOf(known.elementOid) : null;
  return { name: `c${i}`, kind, element, neverNull: false, nullInQuotes: false };
}

/** Structs, maps and lists of lists come as JSON. */
function castOf(i: number, type: string): string {
  const isNested = /^(?:STRUCT|MAP)\(/.test(type) || /\[\d*\]\[\d*\]$/.test(type);
  return `CAST(${isNested ? `CAST(c${i} AS JSON)` : `c${i}`} AS ${type}) AS c${i}`;
}

function scalarOf(oid: number): ScalarKind {
  const kind = kindOfOid(oid)?.kind ?? 'text';
  return kind === 'array' ? 'text' : kind;
}
