import { connect, type Socket } from 'node:net';
import { once } from 'node:events';
import type { Client } from 'pg';

/** A message of the server: its type, and its body. */
export type ServerMessage = { readonly type: string; readonly body: Buffer };

export function clientMessage(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(`${part}\0`) : part)));
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body]);
}

export const int16 = (value: number): Buffer => Buffer.from([(value >> 8) & 255, value & 255]);
export function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(value);
  return bytes;
}

/** A client of the Postgres wire that sends messages as it is told to, and shows those of the server, each as a short text. */
export class PostgresWire implements AsyncDisposable {
  readonly socket: Socket;
  #bytes = Buffer.alloc(0);
  #waiting: Buffer[] = [];
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk: Buffer) => {
      this.#bytes = Buffer.concat([this.#bytes, chunk]);
      this.#wake();
    });
    socket.on('error', () => undefined).on('close', () => this.#wake());
  }

  /** Signs in; `password` as the server asks for it, in the clear. */
  static async open(url: URL, options = ''): Promise<PostgresWire> {
    const socket = connect(Number(url.port), url.hostname);
    await once(socket, 'connect');
    const wire = new PostgresWire(socket);
    const user = decodeURIComponent(url.username);
    const database = url.pathname.slice(1) || 'postgres';
    const more = options === '' ? [] : ['options', options];
    socket.write(clientMessage('', int32(196_608), 'user', user, 'database', database, ...more, Buffer.alloc(1)));
    socket.write(clientMessage('p', decodeURIComponent(url.password)));
    await wire.ready();
    return wire;
  }

  /** Takes the connection of a client of `pg`, which has signed in: any way of signing in is its. */
  static of(client: Client): PostgresWire {
    const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
    stream.removeAllListeners('data').removeAllListeners('end').removeAllListeners('close').removeAllListeners('error');
    return new PostgresWire(stream);
  }

  parse(name: string, sql: string, types: readonly number[] = []): this {
    return this.send('P', name, sql, int16(types.length), ...types.map(int32));
  }

  bind(portal: string, statement: string, values: readonly (string | null)[] = []): this {
    const written = values.map((value) =>
      value === null ? int32(-1) : Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]),
    );
    return this.send('B', portal, statement, int16(0), int16(values.length), ...written, int16(0));
  }

  describe(kind: 'S' | 'P', name: string): this {
    return this.send('D', Buffer.from(kind), name);
  }

  execute(portal: string, rowsMax = 0): this {
    return this.send('E', portal, int32(rowsMax));
  }

  close(kind: 'S' | 'P', name: string): this {
    return this.send('C', Buffer.from(kind), name);
  }

  sync(): this {
    return this.send('S');
  }

  send(type: string, ...parts: readonly (string | Buffer)[]): this {
    this.#waiting.push(clientMessage(type, ...parts));
    return this;
  }

  /** Sends what waits, and a Query. @returns the answers */
  query(sql: string): Promise<readonly string[]> {
    return this.send('Q', sql).ready();
  }

  /** Sends what waits. @returns the answers up to the next ReadyForQuery, without ParameterStatus */
  async ready(): Promise<readonly string[]> {
    const messages = await this.messages();
    return messages.filter(({ type }) => type !== 'S').map(shown);
  }

  async messages(): Promise<readonly ServerMessage[]> {
    this.socket.write(Buffer.concat(this.#waiting));
    this.#waiting = [];
    const found: ServerMessage[] = [];
    for (;;) {
      const next = this.#take();
      if (next === undefined) {
        if (this.socket.destroyed || this.socket.readableEnded) return found;
        await new Promise<void>((resolve) => (this.#wake = resolve));
        continue;
      }
      found.push(next);
      if (next.type === 'Z') return found;
    }
  }

  #take(): ServerMessage | undefined {
    if (this.#bytes.length < 5) return undefined;
    const end = 1 + this.#bytes.readInt32BE(1);
    if (this.#bytes.length < end) return undefined;
    const message = { type: this.#bytes.toString('latin1', 0, 1), body: this.#bytes.subarray(5, end) };
    this.#bytes = this.#bytes.subarray(end);
    return message;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.end(clientMessage('X'));
    if (!this.socket.closed) await once(this.socket, 'close');
  }
}

/** `C SELECT 1`, `Z I`, `E 42601`, `D 1|NULL`, `T a,b`; others by their type alone. */
export function shown({ type, body }: ServerMessage): string {
  const text = (): string => body.toString('utf8').replaceAll('\0', '');
  if (type === 'C' || type === 'Z') return `${type} ${text()}`;
  if (type === 'E' || type === 'N') return `${type} ${fieldsOf(body).get('C') ?? ''}`;
  if (type === 'D')
    return `D ${rowOf(body)
      .map((value) => value ?? 'NULL')
      .join('|')}`;
  return type === 'T' ? `T ${namesOf(body).join(',')}` : type;
}

export function fieldsOf(body: Buffer): ReadonlyMap<string, string> {
  const fields = body
    .toString('utf8')
    .split('\0')
    .filter((field) => field !== '');
  return new Map(fields.map((field) => [field.slice(0, 1), field.slice(1)]));
}

/** The values of a DataRow whose columns come in text. */
export function rowOf(body: Buffer): readonly (string | null)[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const length = body.readInt32BE(at);
    at += 4 + Math.max(length, 0);
    return length < 0 ? null : body.toString('utf8', at - length, at);
  });
}

/** Bytes of a column behind its name. */
const COLUMN_BYTES = 18;

function namesOf(body: Buffer): readonly string[] {
  let at = 2;
  return Array.from({ length: body.readInt16BE(0) }, () => {
    const end = body.indexOf(0, at);
    const name = body.toString('utf8', at, end);
    at = end + 1 + COLUMN_BYTES;
    return name;
  });
}
