import type { Decoder } from './decoder.ts';
import { ARRIVAL } from './decoders/arrival.ts';
import { MANIFEST, MANIFEST_LIST } from './decoders/avro.ts';
import { DELETION_VECTOR } from './decoders/deletion-vector.ts';
import { FRAMES, RESULT_FRAMES, TASK_MESSAGE } from './decoders/frames.ts';
import { REGISTERED_METADATA, REQUEST_BODY, SCAN_FILTER, TABLE_METADATA, VIEW_METADATA } from './decoders/metadata.ts';
import { PARQUET_FOOTER } from './decoders/parquet-footer.ts';
import { POSTGRES_MESSAGES, POSTGRES_STARTUP } from './decoders/postgres-wire.ts';
import { TICKET } from './decoders/wire.ts';

/** All decoders of bytes from untrusted sources. */
export const DECODERS: readonly Decoder[] = [
  MANIFEST_LIST,
  MANIFEST,
  DELETION_VECTOR,
  PARQUET_FOOTER,
  TABLE_METADATA,
  REGISTERED_METADATA,
  VIEW_METADATA,
  SCAN_FILTER,
  REQUEST_BODY,
  TICKET,
  FRAMES,
  RESULT_FRAMES,
  TASK_MESSAGE,
  ARRIVAL,
  POSTGRES_STARTUP,
  POSTGRES_MESSAGES,
];
