import { Schema } from 'apache-arrow';
import { printSqlType } from '../../plan/sql-type.ts';
import type { StatementDescription } from '../../operation/description.ts';
import { arrowSchema } from '../../sink/arrow-schema.ts';
import { schemaMessage } from './arrow-message.ts';
import type { FlightDoor } from './flight-door.ts';
import { StatementFailure } from './flight-error.ts';
import { packMessage } from './flight-messages.ts';
import { newQueryId } from './run-statement.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { Visit } from './visit.ts';

/** A statement that is only described. */
type Text = { readonly sql: string; readonly transaction: SessionKey | undefined };

const ZONE = 'UTC';

/** The columns of a statement's rows: none for one that gives no rows, or whose columns depend on data or values. */
export const datasetSchema = (description: StatementDescription): Schema =>
  description.kind === 'rows' && description.columns !== null
    ? arrowSchema({ columns: description.columns, timeZone: ZONE })
    : new Schema([]);

/** Describes a statement without running it. @throws StatementFailure */
export async function describeForClient(
  { queries }: FlightDoor,
  { caller, session }: Visit,
  { text: { sql, transaction }, gone }: { readonly text: Text; readonly gone: AbortSignal },
): Promise<StatementDescription> {
  const inside = transaction === undefined ? {} : { transaction };
  try {
    return await queries.describe({ caller, session, ...inside, sql, types: [], clientGone: gone });
  } catch (error) {
    throw new StatementFailure(error, { queryId: newQueryId(), sql });
  }
}

/** Prepares a statement; answers the body of CreatePreparedStatement's result. @throws StatementFailure, TOO_MANY_PREPARED_STATEMENTS */
export async function prepareText(door: FlightDoor, visit: Visit, text: Text, gone: AbortSignal): Promise<Buffer> {
  const description = await describeForClient(door, visit, { text, gone });
  const parameters = description.parameters.map(({ name, type }) => ({ name, typeName: printSqlType(type), type }));
  const handle = door.prepared.add(visit.session, { ...text, description, bound: null });
  return packMessage('ActionCreatePreparedStatementResult', {
    prepared_statement_handle: Buffer.from(handle),
    dataset_schema: schemaMessage(datasetSchema(description)),
    parameter_schema: schemaMessage(arrowSchema({ columns: parameters, timeZone: ZONE })),
    is_update: description.kind !== 'rows',
  });
}
