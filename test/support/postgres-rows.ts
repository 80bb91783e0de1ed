import { once } from 'node:events';
import { connect } from 'node:net';

function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
}

const int16s = (...values: readonly number[]): Buffer =>
  Buffer.concat(values.map((value) => Buffer.from([value >> 8, value & 255])));
const PROTOCOL = Buffer.from([0, 3, 0, 0]);
const ALL_ROWS = Buffer.alloc(4);

/** The rows of a query as they lie in the messages of the Postgres wire, in binary: `pg` decodes them as text, which loses bytes. */
export async function binaryRows(url: URL, sql: string): Promise<readonly (readonly (Buffer | null)[])[]> {
  const socket = connect(Number(url.port), url.hostname);
  await once(socket, 'connect');
  socket.write(message('', PROTOCOL, 'user', decodeURIComponent(url.username), 'database', 'lake', Buffer.alloc(1)));
  socket.write(message('p', decodeURIComponent(url.password)));
  socket.write(
    Buffer.concat([
      message('P', '', sql, int16s(0)),
      message('B', '', '', int16s(0, 0, 1, 1)),
      message('E', '', ALL_ROWS),
      message('S'),
      message('X'),
    ]),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of socket) chunks.push(chunk as Buffer);
  const bytes = Buffer.concat(chunks);
  const rows: (Buffer | null)[][] = [];
  for (let at = 0; at < bytes.length; at += 1 + bytes.readInt32BE(at + 1)) {
    const type = bytes.toString('latin1', at, at + 1);
    if (type === 'E') throw new Error(bytes.toString('utf8', at, at + 1 + bytes.readInt32BE(at + 1)));
    if (type === 'D') rows.push(valuesOf(bytes, at + 5));
  }
  return rows;
}

function valuesOf(bytes: Buffer, begin: number): (Buffer | null)[] {
  let at = begin + 2;
  return Array.from({ length: bytes.readInt16BE(begin) }, () => {
    const length = bytes.readInt32BE(at);
    at += 4 + Math.max(length, 0);
    return length < 0 ? null : bytes.subarray(at - length, at);
  });
}
