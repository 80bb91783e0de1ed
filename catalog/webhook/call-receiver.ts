import type { IncomingMessage } from 'node:http';
import { problemOf, sendRequest, type WayOut } from '../outbound/send-request.ts';

/** Bytes of an answer that are read, so that a receiver which writes some is not cut off. None are kept. */
const ANSWER_BYTES_MAX = 4_096;

type Call = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
};

export type CallOptions = WayOut & {
  /** Longest time of the whole call. */
  readonly timeoutMs: number;
};

/** The status of the answer, or why there is none, in words that are shown to the tenant. */
export type CallEnd = { readonly status: number } | { readonly problem: string };

/** POSTs to a receiver over a connection of its own (`sendRequest`). Redirects are not followed. */
export async function callReceiver(call: Call, options: CallOptions): Promise<CallEnd> {
  const timeout = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([timeout, options.signal]);
  try {
    const answer = await sendRequest({ method: 'POST', ...call }, { ...options, signal });
    return { status: await statusOf(answer) };
  } catch (error) {
    if (options.signal.aborted) throw error;
    const problem = timeout.aborted
      ? `no answer within ${options.timeoutMs / 1_000} s`
      : problemOf(error, 'the receiver');
    return { problem };
  }
}

/** The status is known when the head is there; the body is read so far that the receiver can end it. */
function statusOf(answer: IncomingMessage): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    const end = (): void => {
      resolve(answer.statusCode ?? 0);
      answer.destroy();
    };
    answer.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > ANSWER_BYTES_MAX) end();
    });
    for (const event of ['end', 'close', 'error']) answer.on(event, end);
  });
}
