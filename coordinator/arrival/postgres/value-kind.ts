/** The types of Postgres that columns and parameters have. */
export type ScalarKind =
  | 'bool'
  | 'bytea'
  | 'int2'
  | 'int4'
  | 'int8'
  | 'oid'
  | 'float4'
  | 'float8'
  | 'numeric'
  | 'text'
  | 'date'
  | 'time'
  | 'timestamp'
  | 'timestamptz'
  | 'interval'
  | 'uuid'
  | 'jsonb';
export type ValueKind = ScalarKind | 'array';

/** A value that a client has written as its type does not have it. */
export class BadValue extends Error {
  readonly sqlState: string;

  constructor(message: string, sqlState = '22P02') {
    super(message);
    this.sqlState = sqlState;
  }
}

/** Bytes that are no value of their type. */
export const badBytes = (): BadValue => new BadValue('incorrect binary data format', '22P03');
