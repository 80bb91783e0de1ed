import type { ServerResponse } from 'node:http';
import type { ResultBatch, RowShape, ResultSummary } from '../../sink/result-sink.ts';
import type { RowsBody } from './all-as-rows.ts';
import { HeldResponse, type ResponseLimits } from './held-response.ts';

const COMMA = 0x2c;

/** The body `{columns, types, rows, row_count, elapsed_ms}` of POST /api/query. A body that was cut is never valid JSON. */
export class JsonResult implements RowsBody {
  readonly encoding = 'json';
  readonly #response: HeldResponse;
  #isFirstRow = true;

  constructor(response: ServerResponse, headers: Readonly<Record<string, string>>, limits: ResponseLimits) {
    this.#response = new HeldResponse(response, { ...limits, headers, contentType: 'application/json; charset=utf-8' });
  }

  get progress(): number {
    return this.#response.takenBytes;
  }

  get committed(): boolean {
    return this.#response.committed;
  }

  start({ columns }: RowShape): void {
    const names = JSON.stringify(columns.map((column) => column.name));
    const types = JSON.stringify(columns.map((column) => column.typeName));
    this.#response.start(Buffer.from(`{"columns":${names},"types":${types},"rows":[`));
    this.#isFirstRow = true;
  }

  batch({ body }: ResultBatch): Promise<void> | undefined {
    if (body.length === 0) return undefined;
    const rows = this.#isFirstRow && body[0] === COMMA ? body.subarray(1) : body;
    this.#isFirstRow = false;
    return this.#response.push([rows]);
  }

  finish({ rowCount, elapsedMs, isCut }: ResultSummary): void {
    const cut = isCut === true ? ',"cut":true' : '';
    this.#response.tellCut(isCut);
    this.#response.end(Buffer.from(`],"row_count":${rowCount},"elapsed_ms":${Math.round(elapsedMs)}${cut}}`));
  }
}
