import type { Lease as LeaseMessage } from '#proto/generated/skein/catalog/v1/Lease.ts';
import type { LeaseRequest as LeaseRequestMessage } from '#proto/generated/skein/catalog/v1/LeaseRequest.ts';

/** `Lease` of `catalog.proto`: a catalog tells it to a coordinator. */
export type Lease = {
  readonly renewal: number;
  readonly changes: number;
  readonly validMs: number;
  readonly answerMs: number;
};
/** `LeaseRequest` of `catalog.proto` that gives nothing back. */
export type LeaseRequest = { readonly renewal: number; readonly changes: number };

export const encodeLease = ({ renewal, changes, validMs, answerMs }: Lease): LeaseMessage => ({
  renewal,
  changes: String(changes),
  valid_ms: validMs,
  answer_ms: answerMs,
});

export const decodeLease = ({ renewal, changes, valid_ms, answer_ms }: LeaseMessage): Lease => ({
  renewal,
  changes: Number(changes),
  validMs: valid_ms,
  answerMs: answer_ms,
});

export const encodeLeaseRequest = ({ renewal, changes }: LeaseRequest): LeaseRequestMessage => ({
  renewal,
  changes: String(changes),
  given_back: false,
});

export const decodeLeaseRequest = ({ renewal, changes }: LeaseRequestMessage): LeaseRequest => ({
  renewal,
  changes: Number(changes),
});
