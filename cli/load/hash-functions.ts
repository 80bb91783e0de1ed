import {
  BLOB,
  BIGINT,
  DuckDBBlobValue,
  DuckDBScalarFunction,
  INTEGER,
  VARCHAR,
  type DuckDBConnection,
  type DuckDBType,
} from '@duckdb/node-api';
import { bytesOfInteger } from '#shared/iceberg/big-endian.ts';
import { murmur3 } from '#shared/iceberg/murmur3.ts';
import { longBytes } from '#shared/iceberg/transform.ts';
import { HASH_FUNCTIONS } from '#worker/write/transform-sql.ts';

/** Registers the hash functions that `bucket` needs in one instance, because DuckDB has no Murmur3. */
export function registerHashes(connection: DuckDBConnection): void {
  const hashes: readonly (readonly [string, DuckDBType, (value: unknown) => Uint8Array])[] = [
    [HASH_FUNCTIONS.integer, BIGINT, (value) => longBytes(value as bigint)],
    [HASH_FUNCTIONS.decimal, VARCHAR, (value) => bytesOfInteger(BigInt(value as string))],
    [HASH_FUNCTIONS.text, VARCHAR, (value) => Buffer.from(value as string)],
    [HASH_FUNCTIONS.bytes, BLOB, (value) => (value as DuckDBBlobValue).bytes],
  ];
  for (const [name, type, toBytes] of hashes) {
    connection.registerScalarFunction(
      DuckDBScalarFunction.create({
        name,
        parameterTypes: [type],
        returnType: INTEGER,
        mainFunction: (_info, input, output) => {
          const values = input.getColumnVector(0);
          for (let row = 0; row < input.rowCount; row++) {
            const value = values.getItem(row);
            output.setItem(row, value === null ? null : murmur3(toBytes(value)));
          }
          output.flush();
        },
      }),
    );
  }
}
