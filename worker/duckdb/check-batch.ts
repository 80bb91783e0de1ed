import type { ArrowBuffer } from './arrow-buffer.ts';
import type { ArrowBatch } from './arrow-in.ts';
import { bufferCount, layoutOf, type ArrowField } from './arrow-schema.ts';
import { brokenMessage } from '#shared/flight/check-message.ts';
import { readBytes } from './memory.ts';

/** Limit of rows in a batch; writers end one far earlier. */
const ROWS_MAX = 2 ** 20;

type Node = { readonly rows: number; readonly buffers: readonly ArrowBuffer[] };

/**
 * Checks everything in a batch that DuckDB reads without a check of its own: every field has a node, and buffers long enough for its rows;
 * offsets never decrease and stay within their target; dictionary indices exist.
 * @throws INTERNAL_ERROR
 */
export function checkBatch(
  fields: readonly ArrowField[],
  batch: ArrowBatch,
  dictionaries: readonly ArrowBatch[],
): void {
  if (batch.rows < 0 || batch.rows > ROWS_MAX) throw brokenMessage(`a batch has more than ${ROWS_MAX} rows`);
  const walk = new Walk(dictionaries);
  const cursor = new Cursor(batch);
  for (const field of fields) walk.check(field, cursor, batch.rows);
}

/** Walks the nodes and buffers of a batch, field by field. */
class Cursor {
  readonly #batch: ArrowBatch;
  #node = 0;
  #buffer = 0;

  constructor(batch: ArrowBatch) {
    this.#batch = batch;
  }

  next(field: ArrowField): Node {
    const node = this.#batch.nodes[this.#node++];
    const end = this.#buffer + bufferCount(field);
    const buffers = this.#batch.buffers.slice(this.#buffer, end);
    this.#buffer = end;
    if (node === undefined || this.#batch.buffers.length < end) throw brokenMessage('a column is missing');
    if (!Number.isSafeInteger(node.length) || node.length < 0) throw brokenMessage('a column has no possible length');
    return { rows: node.length, buffers };
  }
}

class Walk {
  readonly #dictionaries: readonly ArrowBatch[];
  #next = 0;

  constructor(dictionaries: readonly ArrowBatch[]) {
    this.#dictionaries = dictionaries;
  }

  /** @param rowsMin number of elements of the field that will be read @returns number of elements that it has */
  check(field: ArrowField, cursor: Cursor, rowsMin: number): number {
    const node = cursor.next(field);
    const { rows } = node;
    if (rows < rowsMin) throw brokenMessage('a column has fewer rows than its batch');
    const layout = layoutOf(field);
    const [validity, second, third] = node.buffers;
    if (layout.kind !== 'union') needs(validity, validity?.bytes === 0 ? 0 : Math.ceil(rows / 8));
    switch (layout.kind) {
      case 'null':
        break;
      case 'bits':
        needs(second, Math.ceil(rows / 8));
        break;
      case 'fixed':
        if (!Number.isInteger(layout.bytes) || layout.bytes < 1) throw brokenMessage('a value has no possible width');
        needs(second, rows * layout.bytes);
        break;
      case 'bytes':
        if (lastOffset(second, rows, layout.offsetBytes) > (third?.bytes ?? 0)) throw brokenMessage(OUTSIDE);
        break;
      case 'list':
        this.#children(field, cursor, lastOffset(second, rows, layout.offsetBytes));
        break;
      case 'fixedList':
        if (layout.size < 1) throw brokenMessage('an array has no possible size');
        this.#children(field, cursor, rows * layout.size);
        break;
      case 'union':
        needs(validity, rows);
        this.#children(field, cursor, rows);
        break;
      case 'struct':
        this.#children(field, cursor, rows);
        break;
    }
    if (field.dictionary !== null) {
      if (layout.kind !== 'fixed') throw brokenMessage('an index is no number');
      this.#checkDictionary(field.dictionary, node, layout.bytes);
    }
    return rows;
  }

  #children(field: ArrowField, cursor: Cursor, rowsMin: number): void {
    for (const child of field.children) this.check(child, cursor, rowsMin);
  }

  #checkDictionary(values: ArrowField, { rows, buffers }: Node, width: number): void {
    const dictionary = this.#dictionaries[this.#next++];
    if (dictionary === undefined) throw brokenMessage('a dictionary is missing');
    const count = this.check(values, new Cursor(dictionary), dictionary.rows);
    const [validity, indices] = buffers;
    const isValid = validityOf(validity);
    const list = indicesOf(indices, rows, width);
    for (let row = 0; row < rows; row++) {
      if ((list[row] ?? 0) >= count && isValid(row)) throw brokenMessage('a value is not in its dictionary');
    }
  }
}

const OUTSIDE = 'an offset lies outside of its column';

function needs(buffer: ArrowBuffer | undefined, bytes: number): void {
  if ((buffer?.bytes ?? 0) < bytes) throw brokenMessage('a buffer is shorter than its column');
}

/** Checks the offsets of a field and returns the end of its last element. */
function lastOffset(buffer: ArrowBuffer | undefined, rows: number, width: 4 | 8): number {
  if (rows === 0) return 0;
  needs(buffer, (rows + 1) * width);
  const bytes = readBytes(buffer?.address ?? 0n, (rows + 1) * width);
  // A typed loop for each width, because there may be millions of offsets.
  return width === 4
    ? lastOf(new Int32Array(bytes.buffer, bytes.byteOffset, rows + 1), 0)
    : Number(lastOf(new BigInt64Array(bytes.buffer, bytes.byteOffset, rows + 1), 0n));
}

function lastOf<N extends number | bigint>(offsets: { readonly length: number; readonly [i: number]: N }, zero: N): N {
  let before = zero;
  for (let i = 0; i < offsets.length; i++) {
    const offset = offsets[i] ?? zero;
    if (offset < before) throw brokenMessage(OUTSIDE);
    before = offset;
  }
  return before;
}

/** Reads indices as unsigned numbers: a negative one is then larger than any dictionary. */
function indicesOf(
  buffer: ArrowBuffer | undefined,
  rows: number,
  width: number,
): Uint8Array | Uint16Array | Uint32Array {
  const bytes = readBytes(buffer?.address ?? 0n, rows * width);
  if (width === 1) return bytes;
  if (width === 2) return new Uint16Array(bytes.buffer, bytes.byteOffset, rows);
  if (width === 4) return new Uint32Array(bytes.buffer, bytes.byteOffset, rows);
  throw brokenMessage('an index has no possible width');
}

function validityOf(buffer: ArrowBuffer | undefined): (row: number) => boolean {
  if (buffer === undefined || buffer.bytes === 0) return () => true;
  const bits = readBytes(buffer.address, buffer.bytes);
  return (row) => (((bits[row >> 3] ?? 0) >> (row & 7)) & 1) === 1;
}
