import { unreachable } from '#shared/must.ts';

/** The types that columns of rows can have which Skein makes itself, by their names in SQL, each with its values. */
export type MadeValues = {
  readonly VARCHAR: string;
  readonly INTEGER: number;
  readonly BIGINT: number | bigint;
  readonly DOUBLE: number;
  readonly BOOLEAN: boolean;
  /** In UTC, as `Date.toISOString` prints it. */
  readonly 'TIMESTAMP WITH TIME ZONE': string;
};
export type MadeType = keyof MadeValues;
export type MadeValue = MadeValues[MadeType] | null;

/** The value that a text stands for; the inverse of `String`. */
export function madeValue(type: MadeType, text: string): MadeValue {
  switch (type) {
    case 'VARCHAR':
    case 'TIMESTAMP WITH TIME ZONE':
      return text;
    case 'INTEGER':
    case 'DOUBLE':
      return Number(text);
    case 'BIGINT':
      return BigInt(text);
    case 'BOOLEAN':
      return text === 'true';
    default:
      return unreachable(type);
  }
}
