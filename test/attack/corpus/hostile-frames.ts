import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { between, oneOf } from './hostile-statements.ts';

/** A kind of hostile input to a port, whichever service listens there. */
export type FrameClass = {
  readonly name: string;
  readonly send: (socket: Socket, random: () => number) => Promise<void>;
};

/** A connection is closed after this time at the latest. */
const LIFE_MS = 3_000;
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const HTTP2 = { data: 0, headers: 1, reset: 3, settings: 4, ping: 6, continuation: 9 } as const;

const bytes = (random: () => number, length: number): Buffer =>
  Buffer.from(Array.from({ length }, () => Math.floor(random() * 256)));

/** A frame of HTTP/2, whose length need not be that of its payload. */
function frame(type: number, stream: number, payload: Buffer, flags = 0, length = payload.length): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length, 0, 3);
  head.writeUInt8(type, 3);
  head.writeUInt8(flags, 4);
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

const write = async (socket: Socket, ...parts: readonly (string | Buffer)[]): Promise<void> => {
  for (const part of parts) if (socket.writable) socket.write(part);
  await sleep(50);
};

export const HOSTILE_FRAMES: readonly FrameClass[] = [
  { name: 'noise', send: (socket, r) => write(socket, bytes(r, between(r, 1, 20_000))) },
  { name: 'a torn head', send: (socket) => write(socket, 'POST /api/query HTTP/1.1\r\nhost: a\r\ncontent-le') },
  {
    name: 'a slow head',
    send: async (socket) => {
      for (const character of 'GET / HTTP/1.1\r\nhost: a\r\nx-slow: 1') {
        await write(socket, character);
        if (socket.destroyed) return;
      }
    },
  },
  {
    name: 'a large head',
    send: (socket, r) => write(socket, `GET / HTTP/1.1\r\nhost: a\r\nx: ${'h'.repeat(between(r, 1e4, 1e6))}\r\n\r\n`),
  },
  {
    name: 'many requests in one go',
    send: (socket, r) => write(socket, 'GET /none HTTP/1.1\r\nhost: a\r\n\r\n'.repeat(between(r, 10, 500))),
  },
  {
    name: 'a body shorter than it says',
    send: (socket) => write(socket, 'POST /api/query HTTP/1.1\r\nhost: a\r\ncontent-length: 8000000\r\n\r\n{"sql":'),
  },
  {
    name: 'chunks of wrong sizes',
    send: (socket, r) =>
      write(
        socket,
        'POST /v1/oauth/tokens HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n',
        `${oneOf(r, ['ffffffffffff', '-1', '5', 'zz'])}\r\nabc\r\n`,
      ),
  },
  {
    name: 'two lengths',
    send: (socket) =>
      write(
        socket,
        'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /',
      ),
  },
  {
    name: 'frames of HTTP/2 that are none',
    send: (socket, r) =>
      write(
        socket,
        PREFACE,
        frame(HTTP2.settings, 0, Buffer.alloc(0)),
        frame(between(r, 0, 255), 1, bytes(r, 200), 255),
      ),
  },
  {
    name: 'a frame that is longer than it may be',
    send: (socket) =>
      write(
        socket,
        PREFACE,
        frame(HTTP2.settings, 0, Buffer.alloc(0)),
        frame(HTTP2.data, 1, Buffer.alloc(10), 0, 0xff_ff_ff),
      ),
  },
  {
    name: 'headers without end',
    send: (socket, r) =>
      write(
        socket,
        PREFACE,
        frame(HTTP2.settings, 0, Buffer.alloc(0)),
        frame(HTTP2.headers, 1, Buffer.from([0x82])),
        ...Array.from({ length: between(r, 10, 1_000) }, () => frame(HTTP2.continuation, 1, Buffer.alloc(1_000, 0x82))),
      ),
  },
  {
    name: 'streams that end as they begin',
    send: (socket, r) =>
      write(
        socket,
        PREFACE,
        frame(HTTP2.settings, 0, Buffer.alloc(0)),
        ...Array.from({ length: between(r, 10, 1_000) }, (_, i) =>
          Buffer.concat([
            frame(HTTP2.headers, 2 * i + 1, Buffer.from([0x82, 0x86, 0x84]), 4),
            frame(HTTP2.reset, 2 * i + 1, Buffer.alloc(4)),
          ]),
        ),
      ),
  },
  {
    name: 'settings and pings without end',
    send: (socket, r) =>
      write(
        socket,
        PREFACE,
        ...Array.from({ length: between(r, 10, 2_000) }, () =>
          Buffer.concat([frame(HTTP2.settings, 0, Buffer.alloc(0)), frame(HTTP2.ping, 0, Buffer.alloc(8))]),
        ),
      ),
  },
  {
    name: 'a message of gRPC that is longer than memory',
    send: (socket) =>
      write(
        socket,
        PREFACE,
        frame(HTTP2.settings, 0, Buffer.alloc(0)),
        frame(HTTP2.headers, 1, Buffer.from([0x83, 0x86, 0x84]), 4),
        frame(HTTP2.data, 1, Buffer.from([0, 0xff, 0xff, 0xff, 0xff, 1, 2, 3])),
      ),
  },
  { name: 'nothing', send: () => sleep(LIFE_MS - 1_000) },
];

/** Opens a connection, sends, and closes it; answers and errors are ignored. */
export async function sendFrames(address: string, { send }: FrameClass, random: () => number): Promise<void> {
  const { hostname, port } = new URL(`http://${address}`);
  const socket = connect({ host: hostname, port: Number(port), timeout: LIFE_MS });
  socket.on('error', () => undefined);
  socket.on('data', () => undefined);
  const timer = setTimeout(() => socket.destroy(), LIFE_MS);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(LIFE_MS) });
    await send(socket, random);
  } catch {
    // Refused, or ended by the other side.
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}
