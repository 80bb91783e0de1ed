import type { PostgresColumn } from './postgres-type.ts';
import type { ErrorFields } from './wire-error.ts';

/** The messages of the server (https://www.postgresql.org/docs/18/protocol-message-formats.html). */

const LENGTH_BYTES = 4;

/** A message: a byte that names it, its length, its body. */
function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, LENGTH_BYTES);
  return Buffer.concat([Buffer.from(type), int32(length), ...parts]);
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16BE(value);
  return bytes;
}

/** A NUL ends a text. */
const text = (value: string): Buffer => Buffer.from(`${value.replaceAll('\0', '')}\0`);

const AUTHENTICATED = 0;
const CLEARTEXT_PASSWORD = 3;
/** The newest minor version of protocol 3 that the server speaks. */
export const MINOR_VERSION = 2;

export const askForPassword = (): Buffer => message('R', int32(CLEARTEXT_PASSWORD));
export const authenticated = (): Buffer => message('R', int32(AUTHENTICATED));
export const parameterStatus = (name: string, value: string): Buffer => message('S', text(name), text(value));
export const backendKey = (pid: number, secret: Buffer): Buffer => message('K', int32(pid), secret);

export const negotiateVersion = (unknownOptions: readonly string[]): Buffer =>
  message('v', int32((3 << 16) | MINOR_VERSION), int32(unknownOptions.length), ...unknownOptions.map(text));

export type TransactionState = 'I' | 'T' | 'E';
export const readyForQuery = (state: TransactionState): Buffer => message('Z', Buffer.from(state));

export const parseComplete = (): Buffer => message('1');
export const bindComplete = (): Buffer => message('2');
export const closeComplete = (): Buffer => message('3');
export const noData = (): Buffer => message('n');
export const emptyQuery = (): Buffer => message('I');
export const portalSuspended = (): Buffer => message('s');
export const commandComplete = (tag: string): Buffer => message('C', text(tag));

/** The rows of a COPY follow, or are to come. */
const copyResponse = (type: 'H' | 'G', isBinary: boolean, columns: number): Buffer => {
  const format = isBinary ? 1 : 0;
  return message(type, Buffer.of(format), int16(columns), ...Array.from({ length: columns }, () => int16(format)));
};
export const copyOut = (isBinary: boolean, columns: number): Buffer => copyResponse('H', isBinary, columns);
export const copyIn = (isBinary: boolean, columns: number): Buffer => copyResponse('G', isBinary, columns);
export const copyData = (bytes: Buffer): Buffer => message('d', bytes);
export const copyDone = (): Buffer => message('c');

export const parameterDescription = (oids: readonly number[]): Buffer =>
  message('t', int16(oids.length), ...oids.map(int32));

/** `formats`: 0 = text, 1 = binary, by column. */
export const rowDescription = (columns: readonly PostgresColumn[], formats: readonly number[]): Buffer =>
  message(
    'T',
    int16(columns.length),
    ...columns.map(({ name, origin, oid, size, typmod }, i) => {
      const place = [uint32(origin?.oid ?? 0), int16(origin?.column ?? 0)];
      return Buffer.concat([text(name), ...place, int32(oid), int16(size), int32(typmod), int16(formats[i] ?? 0)]);
    }),
  );

type Severity = 'ERROR' | 'FATAL' | 'WARNING';

function fieldsOf(severity: Severity, { sqlState, message: said, hint, position, context }: ErrorFields): Buffer {
  const fields = [
    ['S', severity],
    ['V', severity],
    ['C', sqlState],
    ['M', said],
    ...(hint === undefined ? [] : [['H', hint]]),
    ...(position === undefined ? [] : [['P', String(position)]]),
    ...(context === undefined ? [] : [['W', context]]),
  ] as const;
  return Buffer.concat([...fields.map(([code, value]) => text(`${code}${value}`)), Buffer.alloc(1)]);
}

export const errorResponse = (severity: 'ERROR' | 'FATAL', fields: ErrorFields): Buffer =>
  message('E', fieldsOf(severity, fields));
export const warning = (sqlState: string, said: string): Buffer =>
  message('N', fieldsOf('WARNING', { sqlState, message: said }));
