import { randomUUID } from 'node:crypto';
import {
  Metadata,
  type handleBidiStreamingCall,
  type handleServerStreamingCall,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerDuplexStream,
  type ServiceDefinition,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import type { Action } from '#proto/generated/arrow/flight/protocol/Action.ts';
import type { ActionTypeInput } from '#proto/generated/arrow/flight/protocol/ActionType.ts';
import type { FlightDescriptor } from '#proto/generated/arrow/flight/protocol/FlightDescriptor.ts';
import type { FlightInfoInput } from '#proto/generated/arrow/flight/protocol/FlightInfo.ts';
import type { PollInfoInput } from '#proto/generated/arrow/flight/protocol/PollInfo.ts';
import type { PutResultInput } from '#proto/generated/arrow/flight/protocol/PutResult.ts';
import type { SchemaResultInput } from '#proto/generated/arrow/flight/protocol/SchemaResult.ts';
import type { ResultInput } from '#proto/generated/arrow/flight/protocol/Result.ts';
import type { Ticket } from '#proto/generated/arrow/flight/protocol/Ticket.ts';
import { SkeinError } from '#shared/error.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { doAction, listedActions } from './actions.ts';
import type { BatchData } from './arrow-message.ts';
import { doGet } from './do-get.ts';
import { doPut } from './do-put.ts';
import type { FlightDoor } from './flight-door.ts';
import { flightError, StatementFailure } from './flight-error.ts';
import { describedSchema, flightInfo, pollInfo } from './flight-info.ts';
import { sessionCookie, sessionToken, type IncomingCall, type Visit } from './visit.ts';

/** The service whose streams of rows are encoded already: no body passes through a protobuf library. */
export function flightSqlDefinition(): ServiceDefinition {
  const { definition } = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  const asBuffer = (message: Buffer | BatchData): Buffer => message as Buffer;
  return {
    ...definition,
    DoGet: { ...definition.DoGet, responseSerialize: asBuffer, responseDeserialize: (bytes) => bytes },
    DoPut: { ...definition.DoPut, requestDeserialize: (bytes) => bytes },
  };
}

/** The methods of Flight as the door serves them, of callers who are signed in; others are UNIMPLEMENTED. */
export function flightHandlers(door: FlightDoor): UntypedServiceImplementation {
  const handshake: handleBidiStreamingCall<unknown, unknown> = (call) => void answerHandshake(door, call);
  const getFlightInfo: handleUnaryCall<FlightDescriptor, FlightInfoInput> = (call, callback) =>
    void answer(
      serve(door, call, (visit, gone) => flightInfo(door, visit, { descriptor: call.request, gone })),
      callback,
    );
  const get: handleServerStreamingCall<Ticket, Buffer | BatchData> = (call) =>
    void end(
      call,
      serve(door, call, (visit, gone) => doGet(door, visit, call, gone)),
    );
  const pollFlightInfo: handleUnaryCall<FlightDescriptor, PollInfoInput> = (call, callback) =>
    void answer(
      serve(door, call, (visit, gone) => pollInfo(door, visit, { descriptor: call.request, gone })),
      callback,
    );
  const getSchema: handleUnaryCall<FlightDescriptor, SchemaResultInput> = (call, callback) =>
    void answer(
      serve(door, call, (visit, gone) => describedSchema(door, visit, { descriptor: call.request, gone })),
      callback,
    );
  const put: handleBidiStreamingCall<Buffer, PutResultInput> = (call) =>
    void end(
      call,
      serve(door, call, async (visit, gone) => {
        call.write({ app_metadata: await doPut(door, visit, call, gone) });
      }),
    );
  const action: handleServerStreamingCall<Action, ResultInput> = (call) =>
    void end(
      call,
      serve(door, call, async (visit, gone) => {
        const body = await doAction(door, visit, { ...call.request, gone });
        if (body !== undefined) call.write({ body });
      }),
    );
  const listActions: handleServerStreamingCall<unknown, ActionTypeInput> = (call) =>
    void end(
      call,
      serve(door, call, async () => {
        for (const listed of listedActions()) call.write(listed);
      }),
    );
  return {
    Handshake: handshake,
    GetFlightInfo: getFlightInfo,
    PollFlightInfo: pollFlightInfo,
    DoGet: get,
    DoPut: put,
    GetSchema: getSchema,
    DoAction: action,
    ListActions: listActions,
  };
}

/** Answers a call of one reply. */
async function answer<T>(reply: Promise<T>, callback: sendUnaryData<T>): Promise<void> {
  let given: T;
  try {
    given = await reply;
  } catch (error) {
    callback(flightError(error));
    return;
  }
  callback(null, given);
}

/** Ends a call of many replies, once they are sent. */
async function end(
  call: { end(): unknown; emit(event: 'error', error: object): unknown },
  sent: Promise<void>,
): Promise<void> {
  try {
    await sent;
    call.end();
  } catch (error) {
    call.emit('error', flightError(error));
  }
}

type ServedCall = IncomingCall & { readonly cancelled: boolean; on(event: 'cancelled', listener: () => void): unknown };

const LEFT = new SkeinError('QUERY_CANCELLED', 'the client has left');

/** Serves a call; `gone` aborts when its client leaves before it is answered. @throws what the call is answered with */
async function serve<T>(
  door: FlightDoor,
  call: ServedCall,
  work: (visit: Visit, gone: AbortSignal) => Promise<T>,
): Promise<T> {
  const gone = new AbortController();
  // gRPC emits 'cancelled' after every call, also after one that was answered.
  let isAnswered = false;
  call.on('cancelled', () => {
    if (!isAnswered) gone.abort(LEFT);
  });
  try {
    const visit = await door.visits.open(call);
    if (call.cancelled) throw LEFT;
    return await work(visit, gone.signal);
  } catch (thrown) {
    logFailure(door, thrown);
    throw thrown;
  } finally {
    isAnswered = !call.cancelled;
  }
}

/** Logs a fault of ours; those of statements are logged where they run. */
export function logFailure({ log }: Pick<FlightDoor, 'log'>, thrown: unknown): void {
  if (thrown instanceof StatementFailure) return;
  const error = SkeinError.of(thrown);
  if (error.entry.kind === 'internal' || error.entry.kind === 'external') log.error({ err: error }, 'a call failed');
}

/**
 * Handshake: answers credentials with a token, in the header `authorization`, and a cookie for a session of its own. Clients send an empty
 * message, or none.
 */
async function answerHandshake(door: FlightDoor, call: ServerDuplexStream<unknown, unknown>): Promise<void> {
  try {
    const { token } = await door.visits.signIn(call);
    const metadata = new Metadata();
    const session = randomUUID();
    metadata.set('authorization', `Bearer ${sessionToken(token, session)}`);
    metadata.set('set-cookie', sessionCookie(session));
    call.sendMetadata(metadata);
    call.on('data', () => undefined);
    call.on('end', () => call.end());
  } catch (error) {
    logFailure(door, error);
    call.emit('error', flightError(error));
  }
}
