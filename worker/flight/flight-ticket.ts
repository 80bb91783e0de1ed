import { SkeinError } from '#shared/error.ts';
import type { BatchRange } from '../spool/spooled-output.ts';

/** The two forms of a ticket that flight.proto names; `text` is the signed part. */
export type FlightTicket =
  | { readonly kind: 'task'; readonly text: string }
  | { readonly kind: 'partition'; readonly text: string; readonly range: BatchRange };

/** @throws INVALID_REQUEST */
export function parseTicket(bytes: Buffer): FlightTicket {
  const [text = '', suffix] = bytes.toString().split('@', 2);
  if (suffix === undefined) return { kind: 'task', text };
  const match = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(suffix);
  if (match === null) throw new SkeinError('INVALID_REQUEST', 'the range of the ticket is not valid');
  const [, from = '', to] = match;
  return {
    kind: 'partition',
    text,
    range: { start: Number(from), end: to === undefined ? Number.POSITIVE_INFINITY : Number(to) },
  };
}
