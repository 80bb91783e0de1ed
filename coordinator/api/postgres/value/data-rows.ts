/** The values of some rows of a column, as the protocol has them. A value that is not there has any bytes. */
export type Cells = {
  readonly isPresent: (row: number) => boolean;
  /** Bytes of each value; null = they vary, and `offsets` has their places in `bytes`. */
  readonly width: number | null;
  readonly offsets: Int32Array;
  readonly bytes: Buffer;
};

const DATA_ROW = 0x44;
const HEAD_BYTES = 7;
const LENGTH_BYTES = 4;
/** Bytes up to which a loop is quicker than a call that copies. */
const SHORT_BYTES = 24;

/** The messages DataRow of some rows, made column by column. @param type another message whose body is such a row */
export function dataRows(columns: readonly Cells[], rows: number, type = DATA_ROW): Buffer {
  const places = new Int32Array(rows).fill(HEAD_BYTES + LENGTH_BYTES * columns.length);
  for (const cells of columns) addLengths(places, cells);
  let total = 0;
  for (let row = 0; row < rows; row += 1) {
    const length = places[row] ?? 0;
    places[row] = total;
    total += length;
  }
  const out = Buffer.allocUnsafe(total);
  for (let row = 0; row < rows; row += 1) {
    const at = places[row] ?? 0;
    const end = row + 1 < rows ? (places[row + 1] ?? 0) : total;
    out[at] = type;
    out.writeInt32BE(end - at - 1, at + 1);
    out.writeUInt16BE(columns.length, at + 5);
  }
  for (let row = 0; row < rows; row += 1) places[row] = (places[row] ?? 0) + HEAD_BYTES;
  for (const cells of columns) writeColumn(out, places, cells);
  return out;
}

function addLengths(places: Int32Array, { isPresent, width, offsets }: Cells): void {
  for (let row = 0; row < places.length; row += 1) {
    if (!isPresent(row)) continue;
    places[row] = (places[row] ?? 0) + (width ?? (offsets[row + 1] ?? 0) - (offsets[row] ?? 0));
  }
}

/** Writes a column into all rows; `places` go on behind it. */
function writeColumn(out: Buffer, places: Int32Array, { isPresent, width, offsets, bytes }: Cells): void {
  for (let row = 0; row < places.length; row += 1) {
    let at = places[row] ?? 0;
    if (!isPresent(row)) {
      places[row] = out.writeInt32BE(-1, at);
      continue;
    }
    const begin = width === null ? (offsets[row] ?? 0) : row * width;
    const length = width ?? (offsets[row + 1] ?? 0) - begin;
    at = out.writeInt32BE(length, at);
    if (length <= SHORT_BYTES) for (let i = 0; i < length; i += 1) out[at + i] = bytes[begin + i] ?? 0;
    else bytes.copy(out, at, begin, begin + length);
    places[row] = at + length;
  }
}
