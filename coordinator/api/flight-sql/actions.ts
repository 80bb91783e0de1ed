import { beginSavepoint, endSavepoint } from './savepoints.ts';
import { SkeinError } from '#shared/error.ts';
import type { FlightDoor } from './flight-door.ts';
import { beginTransaction, closeSession, endTransaction } from './end-transaction.ts';
import { cancelInfo, renewEndpoint } from './endpoints.ts';
import { transactionOf } from './flight-transactions.ts';
import { prepareText } from './prepare.ts';
import { decodeMessage, encodeMessage, packMessage, unpackMessage, type SqlMessages } from './flight-messages.ts';
import { getSessionOptions, setSessionOptions } from './session-options.ts';
import type { Visit } from './visit.ts';

/** An action: its body in, and that of its result, if it has one. */
type Action = {
  readonly description: string;
  readonly run: (door: FlightDoor, visit: Visit, body: Uint8Array, gone: AbortSignal) => Promise<Buffer | undefined>;
};

/** The actions of the door, by their types. Those that are missing, of Substrait, are UNIMPLEMENTED. */
const ACTIONS: Readonly<Record<string, Action>> = {
  CreatePreparedStatement: {
    description: 'Prepares a statement: its columns and parameters, and a handle',
    run: async (door, visit, body, gone) => {
      const { query: sql, transaction_id: id } = unpacked('ActionCreatePreparedStatementRequest', body);
      return prepareText(door, visit, { sql, transaction: transactionOf(visit.session, id) }, gone);
    },
  },
  ClosePreparedStatement: {
    description: 'Forgets a prepared statement',
    run: async (door, visit, body) => {
      const { prepared_statement_handle: handle } = unpacked('ActionClosePreparedStatementRequest', body);
      door.prepared.remove(visit.session, handle.toString());
      return undefined;
    },
  },
  BeginTransaction: {
    description: 'Begins a transaction, which later commands name by its id',
    run: async (door, visit) => {
      const id = await beginTransaction(door, visit);
      return packMessage('ActionBeginTransactionResult', { transaction_id: Buffer.from(id) });
    },
  },
  EndTransaction: {
    description: 'Commits a transaction, or rolls it back',
    run: async (door, visit, body) => {
      const { transaction_id: id, action } = unpacked('ActionEndTransactionRequest', body);
      if (id.length === 0) throw new SkeinError('INVALID_REQUEST', 'the action names no transaction');
      if (action === 'END_TRANSACTION_UNSPECIFIED') {
        throw new SkeinError('INVALID_REQUEST', 'the action must say commit or rollback');
      }
      await endTransaction(door, visit, id, action === 'END_TRANSACTION_COMMIT');
      return undefined;
    },
  },
  CancelFlightInfo: {
    description: 'Cancels the statement of a FlightInfo',
    run: async (door, visit, body) => {
      const { info } = decodeMessage('CancelFlightInfoRequest', body);
      return encodeMessage('CancelFlightInfoResult', { status: cancelInfo(door, visit, info) });
    },
  },
  BeginSavepoint: {
    description: 'Sets a savepoint in a transaction',
    run: async (door, visit, body) => {
      const { transaction_id: id, name } = unpacked('ActionBeginSavepointRequest', body);
      return packMessage('ActionBeginSavepointResult', { savepoint_id: await beginSavepoint(door, visit, id, name) });
    },
  },
  EndSavepoint: {
    description: 'Releases a savepoint, or rolls back to it',
    run: async (door, visit, body) => {
      const { savepoint_id: id, action } = unpacked('ActionEndSavepointRequest', body);
      if (action === 'END_SAVEPOINT_UNSPECIFIED') {
        throw new SkeinError('INVALID_REQUEST', 'the action must say release or rollback');
      }
      await endSavepoint(door, visit, id, action === 'END_SAVEPOINT_RELEASE' ? 'RELEASE' : 'ROLLBACK TO');
      return undefined;
    },
  },
  CancelQuery: {
    description: 'Cancels the statement of a FlightInfo (deprecated: CancelFlightInfo)',
    run: async (door, visit, body) => {
      // Its FlightInfo stands in the same field, as bytes.
      const { value } = unpackMessage(body);
      cancelInfo(door, visit, decodeMessage('CancelFlightInfoRequest', value).info);
      return packMessage('ActionCancelQueryResult', { result: 'CANCEL_RESULT_CANCELLED' });
    },
  },
  RenewFlightEndpoint: {
    description: 'Starts the time anew for which a result can be read',
    run: async (door, visit, body) => {
      const { endpoint } = decodeMessage('RenewFlightEndpointRequest', body);
      return renewEndpoint(door, visit, endpoint);
    },
  },
  SetSessionOptions: {
    description: 'Sets catalog, schema and settings of the session',
    run: async (door, visit, body) => {
      const request = decodeMessage('SetSessionOptionsRequest', body);
      return encodeMessage('SetSessionOptionsResult', await setSessionOptions(door, visit, request));
    },
  },
  GetSessionOptions: {
    description: 'The catalog and schema in force, and the settings of the session',
    run: async (door, visit) => encodeMessage('GetSessionOptionsResult', await getSessionOptions(door, visit)),
  },
  CloseSession: {
    description: 'Ends the session; its transactions are rolled back',
    run: async (door, visit) => {
      await closeSession(door, visit.session);
      return encodeMessage('CloseSessionResult', { status: 'CLOSED' });
    },
  },
};

/** Does an action; the result has a body, or none. @throws NOT_SUPPORTED, INVALID_REQUEST, and what the action throws */
export async function doAction(
  door: FlightDoor,
  visit: Visit,
  { type, body, gone }: { readonly type: string; readonly body: Uint8Array; readonly gone: AbortSignal },
): Promise<Buffer | undefined> {
  const action = Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined;
  if (action === undefined) throw new SkeinError('NOT_SUPPORTED', `there is no action ${type.slice(0, NAME_SHOWN)}`);
  return action.run(door, visit, body, gone);
}

/** The actions, as ListActions tells them. */
export const listedActions = (): readonly { readonly type: string; readonly description: string }[] =>
  Object.entries(ACTIONS).map(([type, { description }]) => ({ type, description }));

const NAME_SHOWN = 100;

/** The message of an action's body. @throws INVALID_REQUEST */
function unpacked<Name extends keyof SqlMessages>(name: Name, body: Uint8Array): SqlMessages[Name][1] {
  const { name: found, value } = unpackMessage(body);
  if (found !== name) throw new SkeinError('INVALID_REQUEST', `the body of the action must be ${name}`);
  return decodeMessage(name, value);
}
