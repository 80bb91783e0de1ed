import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { ArrivedRows } from '../../arrival/arrived-rows.ts';
import type { ResultBatch, ResultShape, DoorSink } from '../../sink/result-sink.ts';
import { inTransaction } from './end-transaction.ts';
import { fewerInserts } from '../../command/bound-insert.ts';
import { executionsOf, insertOfAll } from './bound-executions.ts';
import type { FlightDoor } from './flight-door.ts';
import { StatementFailure } from './flight-error.ts';
import type { FlightResult } from './flight-result.ts';
import type { PreparedHandle } from './prepared-handles.ts';
import { executeInto, newResult, runStatement, runToEnd } from './run-statement.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { Visit } from './visit.ts';

/**
 * Runs a prepared statement that gives no rows, with all the rows that are bound to it, as one: either all have their effect, or none.
 * Answers how many rows it has changed. @throws SkeinError, StatementFailure
 */
export async function runBound(
  door: FlightDoor,
  visit: Visit,
  { prepared, gone }: { readonly prepared: PreparedHandle; readonly gone: AbortSignal },
): Promise<number> {
  const sql = insertOfAll(prepared);
  if (sql !== undefined) return await insertAll(door, visit, { sql, prepared, gone });
  const executions = fewerInserts(executionsOf(prepared), prepared.sql);
  // Two are made to know whether there is more than one.
  const [first, second] = [executions.next(), executions.next()];
  const run = async (transaction: SessionKey | undefined): Promise<number> => {
    let changed = 0;
    for (let next = first; next.done !== true; next = next === first ? second : executions.next()) {
      changed += await runToEnd(door, visit, { ...next.value, transaction, gone });
    }
    return changed;
  };
  const current = door.transactions.current(visit.session, prepared.transaction);
  if (second.done === true || current !== undefined) return run(current);
  return await inTransaction(door, visit, run);
}

/** Inserts all bound rows by one statement. @throws SkeinError, StatementFailure */
async function insertAll(
  door: FlightDoor,
  visit: Visit,
  { sql, prepared, gone }: { readonly sql: string; readonly prepared: PreparedHandle; readonly gone: AbortSignal },
): Promise<number> {
  const { schema, batches } = must(prepared.bound, 'there are rows');
  const transaction = door.transactions.current(visit.session, prepared.transaction);
  using rows = new ArrivedRows(schema, { ...door.arrivals, owner: visit.session.tenant }, 'nanoseconds');
  for (const batch of batches) await rows.add(batch);
  const table = rows.table('the bound rows');
  return await runToEnd(door, visit, { sql, parameters: null, transaction, gone, rows: table });
}

/** Begins a prepared query; its result has the rows of all that is bound, one execution after the other. @throws SkeinError */
export function queryBound(door: FlightDoor, visit: Visit, prepared: PreparedHandle): FlightResult {
  const { count, all } = executionsOf(prepared);
  const { sql } = prepared;
  const transaction = door.transactions.current(visit.session, prepared.transaction);
  if (count === 1) {
    const [only] = all;
    return runStatement(door, visit, { ...must(only, 'there is one'), transaction });
  }
  const result = newResult(sql);
  const run = async (inside: SessionKey | undefined): Promise<number> => {
    let rows = 0;
    let first: ResultPart | undefined;
    for (const execution of all) {
      const part = new ResultPart(result, first);
      first ??= part;
      await executeInto(door, visit, { ...execution, transaction: inside }, { sink: part, gone: result.gone });
      rows += part.rows;
    }
    return rows;
  };
  // In a transaction, all executions read their tables as they are at the first one.
  const isInside = count === 0 || transaction !== undefined;
  const done = isInside ? run(transaction) : inTransaction(door, visit, run);
  void done
    .then((rowCount) => result.finish({ rowCount, elapsedMs: 0 }))
    .catch((error: unknown) => result.fail(error instanceof StatementFailure ? error.error : error));
  return result;
}

/** The rows of one of several executions, which all go to one result. */
class ResultPart implements DoorSink {
  readonly encoding = 'arrow';
  readonly #result: FlightResult;
  readonly #first: ResultPart | undefined;
  #columns = '';
  #hasStarted = false;
  rows = 0;

  constructor(result: FlightResult, first: ResultPart | undefined) {
    this.#result = result;
    this.#first = first;
  }

  /** A part cannot begin again, because the rows of others may wait before its own. */
  get committed(): boolean {
    return this.#hasStarted;
  }

  get progress(): number {
    return this.#result.progress;
  }

  planned(shape: ResultShape): void {
    this.#columns = JSON.stringify(
      shape.kind === 'rows' ? shape.columns.map(({ name, typeName }) => [name, typeName]) : null,
    );
    if (this.#first === undefined) this.#result.planned(shape);
    else if (this.#first.#columns !== this.#columns) {
      throw new SkeinError('COLUMNS_CHANGED', 'the columns of the result depend on the values that are bound');
    }
  }

  start(): void {
    if (this.#hasStarted) throw new SkeinError('INTERNAL_ERROR', 'a part of a result cannot begin again');
    this.#hasStarted = true;
    if (this.#first === undefined) this.#result.start();
  }

  batch(batch: ResultBatch): Promise<void> | undefined {
    this.rows += batch.rows;
    return this.#result.batch(batch);
  }

  changed(): void {}

  finish(): void {}
}
