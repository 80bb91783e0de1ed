import { setTimeout as startTimer, clearTimeout } from 'node:timers';
import type { IncomingMessage } from 'node:http';
import { problemOf, sendRequest, type OutboundRequest, type WayOut } from './send-request.ts';

export type DocumentLimits = {
  /** Longest time of the whole call, its body included. */
  readonly timeoutMs: number;
  readonly bytesMax: number;
};

/** A document of another server: JSON, with what its head says of keeping it. */
export type OutsideDocument = {
  readonly status: number;
  readonly json: unknown;
  readonly cacheControl: string;
};

/** There is no document, and why, in words that are shown to the tenant. */
export class NoDocument extends Error {}

/** Reads a bounded JSON document of a server that a tenant has named. @throws NoDocument */
export async function fetchDocument(
  request: OutboundRequest,
  way: WayOut,
  { timeoutMs, bytesMax }: DocumentLimits,
): Promise<OutsideDocument> {
  const timeout = new AbortController();
  const timer = startTimer(() => timeout.abort(), timeoutMs).unref();
  const headers = { accept: 'application/json', 'user-agent': 'skein-catalog', ...request.headers };
  try {
    const signal = AbortSignal.any([timeout.signal, way.signal]);
    const answer = await sendRequest({ ...request, headers }, { ...way, signal });
    const text = await bodyOf(answer, bytesMax);
    const { 'cache-control': cacheControl = '' } = answer.headers;
    return { status: answer.statusCode ?? 0, json: parsed(text), cacheControl };
  } catch (error) {
    if (error instanceof NoDocument) throw error;
    const why = timeout.signal.aborted ? `no answer within ${timeoutMs / 1_000} s` : problemOf(error, 'the server');
    throw new NoDocument(why, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

async function bodyOf(answer: IncomingMessage, bytesMax: number): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of answer as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw new NoDocument(`the answer has more than ${bytesMax / 1_024} KiB`);
      chunks.push(chunk);
    }
  } finally {
    answer.destroy();
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** @returns undefined for a text that is no JSON; the status may say enough */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
