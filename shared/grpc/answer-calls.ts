import { EventEmitter } from 'node:events';
import type {
  handleBidiStreamingCall,
  handleUnaryCall,
  MethodDefinition,
  ServerDuplexStream,
  ServerUnaryCall,
  ServiceDefinition,
} from '@grpc/grpc-js';
import type { AnswerInput } from '#proto/generated/skein/calls/v1/Answer.ts';
import type { Call } from '#proto/generated/skein/calls/v1/Call.ts';
import { SkeinError } from '#shared/error.ts';
import { CARRIED_BYTES_MAX } from './call-stream.ts';
import { errorJson, toServiceError } from './internal-auth.ts';

type Wire = ServerDuplexStream<Call, AnswerInput>;

/** A handler of any unary method. */
type Handler = handleUnaryCall<never, unknown>;

/**
 * Handles `Calls`: dispatches what a stream carries (`call-stream.ts`) to the handlers of the methods, each of which admits its caller as if
 * it had been called by itself. `admit` throws when the caller may not open the stream.
 */
export function answerCalls(
  definition: ServiceDefinition,
  handlers: Readonly<Record<string, Handler>>,
  admit: (wire: Wire) => void,
): handleBidiStreamingCall<Call, AnswerInput> {
  return (wire) => {
    const running = new Map<number, CarriedCall>();
    const cancelAll = (): void => {
      for (const call of running.values()) call.cancel();
      running.clear();
    };
    // The caller ends a stream when it waits for nothing more.
    const end = (): void => {
      cancelAll();
      wire.end();
    };
    const answer = (id: number, said: AnswerInput): void => {
      // One that was cancelled is no longer waited for.
      if (running.delete(id)) wire.write({ id, ...said });
    };
    wire.on('error', cancelAll);
    wire.on('cancelled', cancelAll);
    wire.on('end', end);
    try {
      admit(wire);
    } catch (error) {
      wire.emit('error', toServiceError(error));
      return;
    }
    wire.on('data', ({ id, method: name, request }: Call) => {
      if (name === '') {
        running.get(id)?.cancel();
        running.delete(id);
        return;
      }
      const call = new CarriedCall(wire);
      running.set(id, call);
      const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
      const method = definition[name] as MethodDefinition<never, unknown> | undefined;
      if (handler === undefined || method === undefined) {
        answer(id, { failure: failureOf(new SkeinError('INVALID_REQUEST', 'the stream carries no such call')) });
        return;
      }
      try {
        call.request = method.requestDeserialize(request);
        handler(call as unknown as ServerUnaryCall<never, unknown>, (error, reply) => {
          answer(id, error === null ? replyOf(method, reply) : { failure: errorJson(error) });
        });
      } catch (error) {
        answer(id, { failure: failureOf(error) });
      }
    });
  };
}

function replyOf(method: MethodDefinition<never, unknown>, reply: unknown): AnswerInput {
  const bytes = method.responseSerialize(reply);
  return bytes.length > CARRIED_BYTES_MAX ? { too_long: true } : { reply: bytes };
}

const failureOf = (error: unknown): Buffer => errorJson(toServiceError(error));

/** A call that came over a stream, as its handler sees it: it has the metadata and the proven role of the stream. */
class CarriedCall extends EventEmitter {
  readonly metadata: Wire['metadata'];
  readonly getAuthContext: Wire['getAuthContext'];
  request: unknown;
  cancelled = false;

  constructor(wire: Wire) {
    super();
    this.metadata = wire.metadata;
    this.getAuthContext = () => wire.getAuthContext();
  }

  cancel(): void {
    this.cancelled = true;
    this.emit('cancelled');
  }
}
