import { MessageHeader, type DataType, type Schema } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import { SkeinError } from '#shared/error.ts';
import type { FlightData } from '#shared/flight/flight-data.ts';
import type { BatchReader, ResultBatch } from './result-sink.ts';

/**
 * Reads the record batches of a task and passes them on as they are. The task's schema must have the same types as `schema`, which the
 * client was told; names may differ.
 */
export class RecordBatchReader implements BatchReader {
  readonly #schema: Schema;
  #isChecked = false;

  constructor(schema: Schema) {
    this.#schema = schema;
  }

  /** @throws INTERNAL_ERROR for what is no such batch */
  read({ header, body }: FlightData<Buffer>): ResultBatch | undefined {
    if (header.length === 0) return undefined;
    const message = decoded(header);
    if (message.isSchema()) {
      const { fields } = message.header();
      const isAsPlanned = sameLayouts(fieldTypes({ fields }), fieldTypes(this.#schema));
      if (!isAsPlanned) throw invalid(`its schema is ${fields.map(({ type }) => String(type)).join(', ')}`);
      this.#isChecked = true;
      return undefined;
    }
    if (!message.isRecordBatch()) throw invalid(`header ${MessageHeader[message.headerType]}`);
    if (!this.#isChecked) throw invalid('no schema');
    const { length: rows, buffers, compression } = message.header();
    if (compression !== null) throw invalid('compressed');
    if (buffers.some(({ offset, length }) => offset + length > body.length)) throw invalid('cut short');
    return { rows, header, body };
  }
}

/** A header may lie anywhere in what a worker has sent; the Arrow library reads numbers of some where they lie. */
function decoded(header: Buffer): Message {
  try {
    return Message.decode(header.byteOffset % ALIGNMENT === 0 ? header : new Uint8Array(header));
  } catch (cause) {
    throw invalid('no message', cause);
  }
}

const ALIGNMENT = 8;

const invalid = (what: string, cause?: unknown): SkeinError =>
  new SkeinError('INTERNAL_ERROR', `a worker sent a result that is not as planned: ${what}`, { cause });

const fieldTypes = ({ fields }: { readonly fields: readonly { readonly type: DataType }[] }): readonly DataType[] =>
  fields.map(({ type }) => type);

const sameLayouts = (a: readonly DataType[], b: readonly DataType[]): boolean =>
  a.length === b.length && a.every((type, i) => sameLayout(type, b[i]));

/** Whether values of two types lie in memory in the same way and mean the same; names and time zones may differ. */
function sameLayout(a: DataType, b: DataType | undefined): boolean {
  if (b === undefined || a.typeId !== b.typeId) return false;
  const [first, second] = [a, b].map((type) => {
    const { bitWidth, isSigned, precision, scale, unit, listSize } = type as DataType & Partial<Parameters>;
    return [bitWidth, isSigned, precision, scale, unit, listSize].join(' ');
  });
  return first === second && sameLayouts(childTypes(a), childTypes(b));
}

type Parameters = {
  readonly bitWidth: number;
  readonly isSigned: boolean;
  readonly precision: number;
  readonly scale: number;
  readonly unit: number;
  readonly listSize: number;
};

const childTypes = ({ children }: DataType): readonly DataType[] => fieldTypes({ fields: children ?? [] });
