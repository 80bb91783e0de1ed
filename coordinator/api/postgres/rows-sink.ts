import type { DoorSink, ResultBatch, ResultShape, ResultSummary } from '../../sink/result-sink.ts';
import { postgresColumn, type PostgresColumn } from './postgres-type.ts';
import { dataRow, rowDescription } from './server-messages.ts';
import { valueBinary } from './value-binary.ts';
import { valueText, type JsonValue } from './value-text.ts';
import type { WireWriter } from './wire-writer.ts';

const COMMA = 0x2c;

/** Statements whose tag has the number of their rows. */
const COUNTED: ReadonlySet<string> = new Set(['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'MERGE', 'COPY']);

type Options = {
  readonly writer: WireWriter;
  /** Whether the rows come behind their description, as in the simple protocol. */
  readonly describes: boolean;
  /** The form of each column; one for all; none = text. */
  readonly formats: readonly number[];
};

/** The result of a statement as rows of the protocol, each as it comes. An error may follow rows, so nothing is held back. */
export class RowsSink implements DoorSink {
  readonly encoding = 'json';
  readonly #options: Options;
  #shape: ResultShape | undefined;
  #columns: readonly PostgresColumn[] = [];
  #isDescribed = false;
  #hasSent = false;
  #rows = 0;
  #changed: number | undefined;

  constructor(options: Options) {
    this.#options = options;
  }

  get committed(): boolean {
    return this.#hasSent;
  }

  get progress(): number {
    return this.#options.writer.takenBytes;
  }

  /** The tag of the statement, which has ended. */
  get tag(): string {
    const tag = this.#shape?.tag ?? '';
    if (this.#shape?.kind === 'nothing' || !COUNTED.has(tag)) return tag;
    return `${tag === 'INSERT' ? 'INSERT 0' : tag} ${this.#changed ?? this.#rows}`;
  }

  planned(shape: ResultShape): void {
    this.#shape = shape;
    if (shape.kind === 'rows') this.#columns = shape.columns.map(postgresColumn);
  }

  start(): void {
    const { describes, writer } = this.#options;
    this.#rows = 0;
    if (!describes || this.#isDescribed) return;
    this.#isDescribed = true;
    writer.push(rowDescription(this.#columns, this.#formats));
  }

  batch({ rows, body }: ResultBatch): Promise<void> | undefined {
    if (body.length === 0) return undefined;
    this.#rows += rows;
    this.#hasSent = true;
    const texts = body[0] === COMMA ? body.subarray(1) : body;
    const formats = this.#formats;
    const columns = this.#columns;
    for (const row of JSON.parse(`[${texts.toString()}]`) as readonly (readonly JsonValue[])[]) {
      this.#options.writer.push(
        dataRow(
          columns.map(({ kind, element }, i) => {
            const text = valueText(row[i] ?? null, kind, element);
            if (text === null) return null;
            return formats[i] === 1 ? valueBinary(text, kind) : Buffer.from(text);
          }),
        ),
      );
    }
    return this.#options.writer.flush();
  }

  changed(count: number): void {
    this.#changed = count;
  }

  finish({ rowCount }: ResultSummary): void {
    this.#rows = rowCount;
  }

  get #formats(): readonly number[] {
    return formatsOf(this.#options.formats, this.#columns.length);
  }
}

/** The form of each column: a single one holds for all. */
export const formatsOf = (given: readonly number[], columns: number): readonly number[] =>
  Array.from({ length: columns }, (_, i) => (given.length === 1 ? given[0] : given[i]) ?? 0);
