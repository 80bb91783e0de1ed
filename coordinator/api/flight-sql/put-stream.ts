import type { ServerDuplexStream } from '@grpc/grpc-js';
import type { PutResultInput } from '#proto/generated/arrow/flight/protocol/PutResult.ts';
import { SkeinError } from '#shared/error.ts';
import { commandOf, decodeFlightData, type FlightData } from '#shared/flight/flight-data.ts';

export type PutMessage = FlightData<Buffer>;

/** A call of DoPut, whose messages come as they are. */
export type DoPutCall = ServerDuplexStream<Buffer, PutResultInput>;

/** The stream of a DoPut: the command of its descriptor, and its messages. */
export type PutStream = { readonly command: Uint8Array; readonly messages: AsyncIterable<PutMessage> };

/** Reads a DoPut up to its descriptor, which its first message has. @throws INVALID_REQUEST */
export async function openPutStream(call: DoPutCall): Promise<PutStream> {
  const messages = call[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const first = await messages.next();
  if (first.done === true) throw new SkeinError('INVALID_REQUEST', 'a DoPut without messages');
  const command = decoded(() => commandOf(first.value));
  if (command === undefined)
    throw new SkeinError('INVALID_REQUEST', 'the first message of a DoPut must have a descriptor with a command');
  return { command, messages: following(first.value, messages) };
}

async function* following(first: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<PutMessage, void> {
  for (let message = first; ;) {
    yield decoded(() => decodeFlightData(message));
    const next = await rest.next();
    if (next.done === true) return;
    message = next.value;
  }
}

function decoded<T>(read: () => T): T {
  try {
    return read();
  } catch (cause) {
    throw new SkeinError('INVALID_REQUEST', 'a message is no FlightData', { cause });
  }
}
