import {
  DuckDBBitValue,
  DuckDBBlobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBArrayValue,
  DuckDBMapValue,
  DuckDBStructValue,
  DuckDBStructVector,
  DuckDBTypeId,
  DuckDBUnionValue,
  type DuckDBConnection,
  type DuckDBType,
  type DuckDBValue,
} from '@duckdb/node-api';
import type { Json } from '#shared/json.ts';
import type { Engine, EngineAnswer } from './engine.ts';

/** Plain DuckDB behind the same interface; its values become the JSON forms of the query API by rules written here, not by Skein. */
export class DuckdbEngine implements Engine {
  readonly name = 'duckdb';
  readonly #connection: DuckDBConnection;

  constructor(connection: DuckDBConnection) {
    this.#connection = connection;
  }

  /** Returns all rows, or with `rowsMax` at least as many (if there are) up to the end of a chunk. */
  async run(sql: string, rowsMax = Number.MAX_SAFE_INTEGER): Promise<EngineAnswer> {
    try {
      const result = await this.#connection.streamAndReadUntil(sql, rowsMax);
      const types = result.columnTypes();
      const rows = result.getRows().map((row) => row.map((value, i) => apiValue(value, types[i])));
      return { kind: 'rows', columns: result.columnNames(), rows };
    } catch (error) {
      return { kind: 'error', sqlState: null, message: error instanceof Error ? error.message : String(error) };
    }
  }
}

const MAX_SAFE = BigInt(Number.MAX_SAFE_INTEGER);

/** A value in the form that the query API gives it: decimals, HUGEINT and integers beyond 2^53 - 1 as text, times as DuckDB prints them. */
export function apiValue(value: DuckDBValue, type: DuckDBType | undefined): Json {
  if (value === null) return null;
  if (typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (Number.isNaN(value)) return 'NaN';
    if (!Number.isFinite(value)) return value > 0 ? 'Infinity' : '-Infinity';
    return type?.typeId === DuckDBTypeId.FLOAT ? shortestFloat(value) : value;
  }
  if (typeof value === 'bigint') {
    const huge =
      type?.typeId === DuckDBTypeId.HUGEINT ||
      type?.typeId === DuckDBTypeId.UHUGEINT ||
      type?.typeId === DuckDBTypeId.BIGNUM;
    return huge || value > MAX_SAFE || value < -MAX_SAFE ? value.toString() : Number(value);
  }
  if (value instanceof DuckDBDecimalValue || value instanceof DuckDBBitValue) return value.toString();
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString('base64');
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return items(value.items, type);
  if (value instanceof DuckDBStructValue) return struct(value, type);
  if (value instanceof DuckDBMapValue) return map(value, type);
  if (value instanceof DuckDBUnionValue) return apiValue(value.value, member(type, value.tag));
  // The library prints an infinite date as a day.
  if (value instanceof DuckDBDateValue && !value.isFinite) return value.days > 0 ? 'infinity' : '-infinity';
  // The library calls the year before the first one 0000; DuckDB itself, 0001 (BC).
  return value.toString().replace(/^0000-(\d\d-\d\d)/, '0001-$1 (BC)');
}

/**
 * A FLOAT as the shortest decimal that is the same FLOAT, as DuckDB prints it. Between two such decimals DuckDB prints the exact value: 16516.3125,
 * not 16516.312 or 16516.313.
 */
function shortestFloat(value: number): number {
  for (let digits = 1; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === value) return Number(value.toPrecision(digits + 1)) === value ? value : short;
  }
  return Number(value.toPrecision(9));
}

function items(values: readonly DuckDBValue[], type: DuckDBType | undefined): Json {
  const item = type !== undefined && 'valueType' in type ? type.valueType : undefined;
  return values.map((value) => apiValue(value, item));
}

/** Prefix of the name that an unnamed struct field gets; its position follows. */
const UNNAMED = '\u0000';

/** Replaces the library's reader of structs, which keeps values by name, so of several unnamed fields only the last. */
DuckDBStructVector.prototype.getItem = function (this: DuckDBStructVector, row: number): DuckDBStructValue | null {
  if (!this.isItemValid(row)) return null;
  const names = this.type.entryNames.map((name, at) => (name === '' ? `${UNNAMED}${at}` : name));
  return new DuckDBStructValue(Object.fromEntries(names.map((name, at) => [name, this.getItemValue(row, at)])));
};

function struct(value: DuckDBStructValue, type: DuckDBType | undefined): Json {
  const entries = Object.entries(value.entries).map(([name, v]) => [name, apiValue(v, member(type, name))] as const);
  return entries.some(([name]) => name.startsWith(UNNAMED)) ? entries.map(([, v]) => v) : Object.fromEntries(entries);
}

function map(value: DuckDBMapValue, type: DuckDBType | undefined): Json {
  const keyType = type !== undefined && 'keyType' in type ? type.keyType : undefined;
  const valueType = type !== undefined && 'keyType' in type ? type.valueType : undefined;
  const entries = value.entries.map(({ key, value: v }) => ({
    key: apiValue(key, keyType),
    value: apiValue(v, valueType),
  }));
  if (keyType?.typeId !== DuckDBTypeId.VARCHAR) return entries;
  return Object.fromEntries(entries.map(({ key, value: v }) => [typeof key === 'string' ? key : '', v]));
}

function member(type: DuckDBType | undefined, name: string): DuckDBType | undefined {
  if (type?.typeId === DuckDBTypeId.STRUCT && 'entryNames' in type) {
    return type.entryTypes[name.startsWith(UNNAMED) ? Number(name.slice(1)) : type.entryNames.indexOf(name)];
  }
  if (type?.typeId === DuckDBTypeId.UNION && 'memberTags' in type)
    return type.memberTypes[type.memberTags.indexOf(name)];
  return undefined;
}
