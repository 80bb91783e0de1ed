import { SkeinError } from '#shared/error.ts';
import { quoteIdentifier } from '#shared/sql/quote.ts';
import type { FlightDoor } from './flight-door.ts';
import { transactionOf } from './flight-transactions.ts';
import { runToEnd } from './run-statement.ts';
import type { Visit } from './visit.ts';

const UUID_LENGTH = 36;

/** Sets a savepoint; answers its id, which is its transaction's and its name. @throws INVALID_REQUEST, NO_TRANSACTION */
export async function beginSavepoint(door: FlightDoor, visit: Visit, id: Uint8Array, name: string): Promise<Buffer> {
  if (name === '') throw new SkeinError('INVALID_REQUEST', 'the action names no savepoint');
  await run(door, visit, id, `SAVEPOINT ${quoteIdentifier(name)}`);
  return Buffer.concat([id, Buffer.from(name)]);
}

/** @throws NO_TRANSACTION, SAVEPOINT_NOT_FOUND */
export async function endSavepoint(
  door: FlightDoor,
  visit: Visit,
  id: Uint8Array,
  how: 'RELEASE' | 'ROLLBACK TO',
): Promise<void> {
  const bytes = Buffer.from(id);
  const name = bytes.toString('utf8', UUID_LENGTH);
  await run(door, visit, bytes.subarray(0, UUID_LENGTH), `${how} ${quoteIdentifier(name)}`);
}

async function run(door: FlightDoor, visit: Visit, id: Uint8Array, sql: string): Promise<void> {
  const transaction = transactionOf(visit.session, id);
  if (transaction === undefined) throw new SkeinError('INVALID_REQUEST', 'the action names no transaction');
  await runToEnd(door, visit, { sql, parameters: null, transaction });
}
