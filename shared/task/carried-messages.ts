import { must } from '#shared/must.ts';

/** Something that carries messages with it. */
type Carrier = { readonly messages?: readonly Uint8Array[] };

/**
 * A carrier in a JSON document, beside which its messages travel as bytes: it has their number.
 * ```
 * [{messages: [a, b]}, {messages: [c]}]   ->   [{messages: 2}, {messages: 1}] and a, b, c
 * ```
 */
export type Counted<T extends Carrier> = Omit<T, 'messages'> & { readonly messages?: number };

/** Takes the messages out of a carrier, onto `taken`. */
export function takeMessages<T extends Carrier>({ messages, ...rest }: T, taken: Buffer[]): Counted<T> {
  if (messages === undefined) return rest;
  for (const { buffer, byteOffset, byteLength } of messages) taken.push(Buffer.from(buffer, byteOffset, byteLength));
  return { ...rest, messages: messages.length };
}

/**
 * The messages of a carrier: the next of those that came. Each is a copy, which does not keep the buffer around it alive.
 * @throws Error when fewer have come
 */
export function givenMessages(count: number | undefined, left: Iterator<Uint8Array>): Carrier {
  if (count === undefined) return {};
  const messages: Uint8Array[] = [];
  for (let i = 0; i < count; i += 1) {
    const next = left.next();
    messages.push(Uint8Array.from(must(next.done === true ? undefined : next.value, 'its messages have come')));
  }
  return { messages };
}
