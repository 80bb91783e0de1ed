import type { ServerResponse } from 'node:http';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { must } from '#shared/must.ts';
import { arrowSchema } from '../../sink/arrow-schema.ts';
import { endOfStream, framed } from '../../sink/ipc-frame.ts';
import type { ResultBatch, ResultSummary, RowShape } from '../../sink/result-sink.ts';
import type { RowsBody } from './all-as-rows.ts';
import { HeldResponse, type ResponseLimits } from './held-response.ts';

export const ARROW_STREAM = 'application/vnd.apache.arrow.stream';

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

  finish({ isCut }: ResultSummary): void {
    this.#response.tellCut(isCut);
    this.#response.end(endOfStream());
  }
}
