/** One request for an object that a client sends to the store itself. */
export type ObjectRequest = {
  readonly method: 'GET' | 'PUT';
  readonly location: string;
  /** Bytes that the body must have; null = any number. */
  readonly sizeBytes: number | null;
  /** It puts a part of an upload. */
  readonly part: { readonly storeUploadId: string; readonly number: number; readonly coming: string } | null;
};

/** Holds the right to one request, for whoever has it, until a time. */
export type SignedAddress = {
  readonly url: string;
  /** The request has to have them. */
  readonly headers: Readonly<Record<string, string>>;
  readonly expiresAtMs: number;
};
