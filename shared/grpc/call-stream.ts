import type { Client, ClientDuplexStream, Metadata, MethodDefinition, ServiceDefinition } from '@grpc/grpc-js';
import type { Answer } from '#proto/generated/skein/calls/v1/Answer.ts';
import type { CallInput } from '#proto/generated/skein/calls/v1/Call.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { callUnary, type CallSettings, type ReplyOf, type UnaryRequest, type UnaryMethod } from './call-unary.ts';
import { decodeError, fromServiceError, internalMetadata, unanswered } from './internal-auth.ts';

/** Longest request or reply that shares the stream, in bytes: others wait while it is on its way. */
export const CARRIED_BYTES_MAX = 2 ** 20;

/** A client of a service with a method `Calls` (`proto/calls.proto`). */
type CarryingClient = Client & { Calls(metadata: Metadata): ClientDuplexStream<CallInput, Answer> };

type Stream = {
  readonly wire: ClientDuplexStream<CallInput, Answer>;
  /** The secret that it was opened with. */
  readonly secret: string;
  readonly waiting: Map<number, Waiting>;
};

type Waiting = {
  readonly answered: (answer: Answer) => void;
  readonly failed: (error: SkeinError) => void;
};

/**
 * Makes unary calls of one service, those that are short over one stream (`answer-calls.ts`). When the stream breaks, the calls that wait on
 * it are lost, as with the connection, and the next call opens another.
 */
export class CallStream<C extends CarryingClient> {
  readonly client: C;
  readonly #definition: ServiceDefinition;
  readonly #settings: Pick<CallSettings, 'keyring' | 'lost' | 'refused'>;
  #stream: Stream | undefined;
  #calls = 0;

  constructor(client: C, definition: ServiceDefinition, settings: Pick<CallSettings, 'keyring' | 'lost' | 'refused'>) {
    this.client = client;
    this.#definition = definition;
    this.#settings = settings;
  }

  /**
   * Calls a method that `Calls` carries, and that may be asked twice. @throws the service's error, `lost` when the call ends without an
   * answer or not within `timeoutMs`, the reason of `signal`
   */
  async call<Name extends UnaryMethod<C> & string>(
    name: Name,
    request: UnaryRequest<C, Name>,
    settings: Pick<CallSettings, 'signal' | 'timeoutMs'> = {},
  ): Promise<ReplyOf<C, Name>> {
    const method = must(this.#definition[name], 'a method of the service') as MethodDefinition<
      UnaryRequest<C, Name>,
      ReplyOf<C, Name>
    >;
    const bytes = method.requestSerialize(request);
    if (bytes.length <= CARRIED_BYTES_MAX) {
      const { answer, peer } = await this.#ask({ method: name, request: bytes }, settings);
      if (answer.failure.length > 0) {
        const error = decodeError(answer.failure);
        this.#settings.refused?.(error, peer);
        throw error;
      }
      if (!answer.too_long) return method.responseDeserialize(answer.reply);
    }
    return await callUnary(this.client, name, request, { ...this.#settings, ...settings });
  }

  /** Has new calls open another stream, which may lead to another process; those that wait go on. */
  leave(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream !== undefined) endUnused(stream);
  }

  /** Ends what waits, and closes the client. */
  close(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    stream?.wire.cancel();
    this.client.close();
  }

  #ask(
    call: Pick<CallInput, 'method' | 'request'>,
    { signal, timeoutMs }: Pick<CallSettings, 'signal' | 'timeoutMs'>,
  ): Promise<{ readonly answer: Answer; readonly peer: string }> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) {
        reject(SkeinError.of(signal.reason));
        return;
      }
      const stream = this.#open();
      const { wire, waiting } = stream;
      const id = this.#calls++ % ID_MAX;
      const end = (): void => {
        waiting.delete(id);
        clearTimeout(timer);
        signal?.removeEventListener('abort', abort);
        if (this.#stream !== stream) endUnused(stream);
      };
      const leave = (error: SkeinError): void => {
        wire.write({ id });
        end();
        reject(error);
      };
      const abort = (): void => leave(SkeinError.of(signal?.reason));
      const timer =
        timeoutMs === undefined ? undefined : setTimeout(() => leave(unanswered(this.#settings.lost)), timeoutMs);
      signal?.addEventListener('abort', abort, { once: true });
      waiting.set(id, {
        answered: (answer) => {
          end();
          resolve({ answer, peer: wire.getPeer() });
        },
        failed: (error) => {
          end();
          reject(error);
        },
      });
      wire.write({ id, ...call });
    });
  }

  /** The stream that carries new calls. One that was opened with another secret carries its calls to their ends. */
  #open(): Stream {
    const { current: secret } = this.#settings.keyring;
    if (this.#stream?.secret === secret) return this.#stream;
    if (this.#stream !== undefined) endUnused(this.#stream);
    const stream: Stream = {
      wire: this.client.Calls(internalMetadata(this.#settings.keyring)),
      secret,
      waiting: new Map(),
    };
    const broken = (thrown: unknown): void => {
      if (this.#stream === stream) this.#stream = undefined;
      const error = fromServiceError(thrown, this.#settings.lost);
      for (const { failed } of stream.waiting.values()) failed(error);
    };
    stream.wire.on('data', (answer: Answer) => stream.waiting.get(answer.id)?.answered(answer));
    stream.wire.on('error', broken);
    stream.wire.on('end', () => broken(unanswered(this.#settings.lost)));
    this.#stream = stream;
    return stream;
  }
}

/** Ends a stream that gets no more calls, once none waits on it. */
function endUnused({ wire, waiting }: Stream): void {
  if (waiting.size === 0) wire.end();
}

/** Numbers of calls are 32 bits wide. */
const ID_MAX = 2 ** 32;
