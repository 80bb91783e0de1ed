import type { CallOptions, Client, ClientUnaryCall, Metadata, requestCallback } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { fromServiceError, internalMetadata, isAnswer, type Unanswered } from './internal-auth.ts';

/** Matches the last overload of a generated client's method, the only one that type inference sees. */
type Unary<Request, Reply> = (argument: Request, callback: requestCallback<Reply>) => ClientUnaryCall;

/** The names of a generated client's unary methods. */
export type UnaryMethod<C> = {
  [Name in keyof C]: C[Name] extends Unary<infer _Request, infer _Reply> ? Name : never;
}[keyof C];
export type UnaryRequest<C, Name extends keyof C> =
  C[Name] extends Unary<infer Request, infer _Reply> ? Request : never;
export type ReplyOf<C, Name extends keyof C> = C[Name] extends Unary<infer _Request, infer Reply> ? Reply : never;

export type CallSettings = {
  readonly keyring: Keyring;
  readonly timeoutMs?: number | undefined;
  /** Cancels the call, which then fails with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** The error when the call ends without an answer of the service. */
  readonly lost: Unanswered;
  /** Called with the error of a call that a peer has answered. */
  readonly refused?: ((error: SkeinError, peer: string) => void) | undefined;
};

/** Makes one internal call. @throws the service's error, `lost`, the reason of `signal` */
export function callUnary<C extends Client, Name extends UnaryMethod<C>>(
  client: C,
  name: Name,
  request: UnaryRequest<C, Name>,
  { keyring, timeoutMs, signal, lost, refused }: CallSettings,
): Promise<ReplyOf<C, Name>> {
  type Full = (
    argument: UnaryRequest<C, Name>,
    metadata: Metadata,
    options: CallOptions,
    callback: requestCallback<ReplyOf<C, Name>>,
  ) => ClientUnaryCall;
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(SkeinError.of(signal.reason));
      return;
    }
    const abort = (): void => {
      call.cancel();
      reject(SkeinError.of(signal?.reason));
    };
    const options = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs };
    const method = (client[name] as Full).bind(client);
    const call = method(request, internalMetadata(keyring), options, (error, reply) => {
      signal?.removeEventListener('abort', abort);
      if (error !== null) {
        const refusal = fromServiceError(error, lost);
        if (isAnswer(error)) refused?.(refusal, call.getPeer());
        reject(refusal);
      } else if (reply === undefined) reject(new Error('invariant: a call has a reply or an error'));
      else resolve(reply);
    });
    signal?.addEventListener('abort', abort, { once: true });
  });
}
