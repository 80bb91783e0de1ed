import type { ServerResponse } from 'node:http';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { must } from '#shared/must.ts';
import { arrowSchema } from '../../sink/arrow-schema.ts';
import type { ResultBatch, RowShape } from '../../sink/result-sink.ts';
import type { RowsBody } from './all-as-rows.ts';
import { HeldResponse, type ResponseLimits } from './held-response.ts';

export const ARROW_STREAM = 'application/vnd.apache.arrow.stream';

/** Marks a message of an Arrow IPC stream; with a length of 0 it marks the end. */
const CONTINUATION = 0xff_ff_ff_ff;
const PREFIX_BYTES = 8;

/**
 * The result as an Arrow IPC stream, of the record batches that the workers send. A stream that was cut has no end marker.
 * ```
 * schema, record batch ..., end; each message: ffffffff, length of the header, header, body
 * ```
 */
export class ArrowResult implements RowsBody {
  readonly encoding = 'arrow';
  readonly #response: HeldResponse;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, limits: ResponseLimits) {
    this.#response = new HeldResponse(response, { ...limits, headers, contentType: ARROW_STREAM });
  }

  get progress(): number {
    return this.#response.takenBytes;
  }

  get committed(): boolean {
    return this.#response.committed;
  }

  start(shape: RowShape): void {
    this.#response.start(framed(Buffer.from(Message.encode(Message.from(arrowSchema(shape))))));
  }

  batch({ header, body }: ResultBatch): Promise<void> | undefined {
    return this.#response.push([framed(must(header, 'a record batch has a header')), body]);
  }

  finish(): void {
    const end = Buffer.alloc(PREFIX_BYTES);
    end.writeUInt32LE(CONTINUATION);
    this.#response.end(end);
  }
}

/** A header behind its prefix, padded so that the body is aligned. */
function framed(header: Buffer): Buffer {
  const length = Math.ceil(header.length / PREFIX_BYTES) * PREFIX_BYTES;
  const bytes = Buffer.alloc(PREFIX_BYTES + length);
  bytes.writeUInt32LE(CONTINUATION);
  bytes.writeUInt32LE(length, 4);
  header.copy(bytes, PREFIX_BYTES);
  return bytes;
}
