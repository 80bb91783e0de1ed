import { readFileSync, writeFileSync } from 'node:fs';

/** A number that becomes NaN in `makeForeign`. It must lie between others of its row group, so that it is no bound. */
export const BECOMES_NAN = 1.2345678901234567e-77;

/**
 * Makes an uncompressed file of DuckDB one of another writer, whose bounds leave NaN out: all of its numbers `BECOMES_NAN` in columns of DOUBLE
 * become NaN.
 */
export function makeForeign(path: string): void {
  let text = readFileSync(path, 'latin1');
  const number = Buffer.alloc(8);
  number.writeDoubleLE(BECOMES_NAN);
  const nan = Buffer.alloc(8);
  nan.writeDoubleLE(Number.NaN);
  text = text.replaceAll(number.toString('latin1'), nan.toString('latin1'));
  writeFileSync(path, text.replaceAll('DuckDB version', 'Strange writer').replaceAll('DuckDB', 'Others'), 'latin1');
}
