import {
  createServer,
  request as httpRequest,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A share of requests to which something happens, 0 to 1, and limits of the line. */
export type StoreFaults = {
  /** Answered with 503 SlowDown. */
  readonly refused?: number;
  /** Done by the store, but the answer ends early; one without a body does not come at all. */
  readonly cut?: number;
  /** Answers to reads of which a byte is another one. */
  readonly altered?: number;
  /** The first request whose method and path match is done by the store, but its answer does not come. */
  readonly lost?: RegExp;
  readonly delayMs?: number;
  /** Speed of the line for all bodies together. */
  readonly bytesPerSecond?: number;
};

/** Requests that have gone through since the counts were last read. */
export type StoreCounts = {
  readonly requests: number;
  readonly reads: number;
  /** Bytes of bodies that came from the store. */
  readonly readBytes: number;
  readonly faults: number;
  readonly keys: number;
  /** Requests that were refused for their key. */
  readonly endedKeys: number;
};

/** A proxy before a store that counts, delays, limits and breaks; the lives of keys are those that the store has told. */
export type StoreProxy = AsyncDisposable & {
  /** `http://127.0.0.1:port` */
  readonly endpoint: string;
  /** In force from now on. */
  set(faults: StoreFaults): void;
  /** Temporary keys say that they end so soon, and are refused afterwards; null = as the store says. */
  setKeyLife(ms: number | null): void;
  /** Refuses every temporary key that was given so far, as a store does that has forgotten them. */
  forgetKeys(): void;
  /** Breaks all connections, and takes none until `openPort`. */
  closePort(): Promise<void>;
  openPort(): Promise<void>;
  takeCounts(): StoreCounts;
  /** The secrets and session tokens of all temporary keys that were given so far. */
  readonly secrets: readonly string[];
};

const CHUNK_BYTES = 65_536;
const NO_COUNTS = { requests: 0, reads: 0, readBytes: 0, faults: 0, keys: 0, endedKeys: 0 };

/** @param seed decides which requests have faults, in their order */
export async function startStoreProxy(target: string, seed = 1): Promise<StoreProxy> {
  const upstream = new URL(target);
  const random = generator(seed);
  const sockets = new Set<Socket>();
  const keys = new Map<string, number>();
  let faults: StoreFaults = {};
  let keyLifeMs: number | null = null;
  let counts = { ...NO_COUNTS };
  const secrets: string[] = [];
  let lineFreeMs = 0;

  const pace = async (bytes: number): Promise<void> => {
    const { bytesPerSecond } = faults;
    if (bytesPerSecond === undefined) return;
    const now = performance.now();
    lineFreeMs = Math.max(now, lineFreeMs) + (bytes * 1_000) / bytesPerSecond;
    await sleep(lineFreeMs - now);
  };
  const happens = (share: number | undefined): boolean => random() < (share ?? 0);

  /** How a request is refused whose key has ended. Keys of Azure come from nowhere: one is new that was not seen before. */
  const endedKey = ({ headers, url = '' }: IncomingMessage): readonly [number, string] | undefined => {
    const isOver = (id: string): boolean => Date.now() > (keys.get(id) ?? Infinity);
    const signature = /[?&]sig=([^&]+)/.exec(url)?.[1];
    if (signature !== undefined) {
      if (!keys.has(signature)) {
        keys.set(signature, keyLifeMs === null ? Infinity : Date.now() + keyLifeMs);
        secrets.push(signature);
        counts.keys += 1;
      }
      return isOver(signature) ? [403, 'AuthenticationFailed'] : undefined;
    }
    const [, token] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    if (token !== undefined) return isOver(token) ? [401, 'AuthenticationRequired'] : undefined;
    const [, id = ''] = /Credential=([^/]+)\//.exec(headers.authorization ?? '') ?? [];
    return isOver(id) ? [403, 'ExpiredToken'] : undefined;
  };

  const handle = async (incoming: IncomingMessage, answer: ServerResponse): Promise<void> => {
    counts.requests += 1;
    const body = await bodyOf(incoming);
    if (faults.delayMs !== undefined) await sleep(faults.delayMs);
    await pace(body.length);
    const ended = endedKey(incoming);
    if (ended !== undefined) {
      counts.endedKeys += 1;
      return refuse(answer, ...ended);
    }
    if (happens(faults.refused)) {
      counts.faults += 1;
      return refuse(answer, 503, 'SlowDown');
    }
    const given = await forward(upstream, incoming, body);
    let bytes = given.body;
    if (body.includes('Action=AssumeRole')) {
      const text = bytes.toString();
      secrets.push(
        ...[/<SecretAccessKey>([^<]+)/, /<SessionToken>([^<]+)/].flatMap((one) => one.exec(text)?.[1] ?? []),
      );
      bytes = moveExpiration(bytes, { keys, lifeMs: keyLifeMs });
      counts.keys += 1;
    } else if (incoming.url === '/v1/token') {
      bytes = shortenToken(bytes, { keys, lifeMs: keyLifeMs, secrets });
      counts.keys += 1;
    } else if (incoming.method === 'GET') {
      counts.reads += 1;
      counts.readBytes += bytes.length;
      if (given.status < 300 && bytes.length > 0 && happens(faults.altered)) {
        counts.faults += 1;
        bytes = Buffer.from(bytes);
        const at = Math.floor(random() * bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ 0x20;
      }
    }
    const isLost = faults.lost?.test(`${incoming.method} ${incoming.url}`) === true;
    if (isLost) faults = { ...faults, lost: /^$/ };
    const isCut = isLost || happens(faults.cut);
    if (isCut) counts.faults += 1;
    if (isLost) return void answer.destroy();
    if (isCut && (bytes.length === 0 || incoming.method === 'HEAD')) return void answer.destroy();
    // The body is whole here.
    const { 'transfer-encoding': _encoding, ...head } = given.headers;
    const headers = incoming.method === 'HEAD' ? head : { ...head, 'content-length': bytes.length };
    answer.writeHead(given.status, headers);
    const end = isCut ? Math.floor(bytes.length * random()) : bytes.length;
    for (let at = 0; at < end; at += CHUNK_BYTES) {
      const chunk = bytes.subarray(at, Math.min(end, at + CHUNK_BYTES));
      await pace(chunk.length);
      answer.write(chunk);
    }
    if (isCut) answer.destroy();
    else answer.end();
  };

  const open = async (port: number): Promise<Server> => {
    const server = createServer((incoming, answer) => {
      handle(incoming, answer).catch(() => answer.destroy());
    });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.on('close', () => sockets.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return server;
  };
  let server: Server | undefined = await open(0);
  const { port } = server.address() as AddressInfo;
  const closePort = async (): Promise<void> => {
    const closed = new Promise((resolve) => server?.close(resolve));
    for (const socket of sockets) socket.destroy();
    if (server !== undefined) await closed;
    server = undefined;
  };
  return {
    endpoint: `http://127.0.0.1:${port}`,
    set: (next) => (faults = next),
    setKeyLife: (ms) => (keyLifeMs = ms),
    forgetKeys: () => {
      for (const id of keys.keys()) keys.set(id, 0);
    },
    closePort,
    openPort: async () => {
      server ??= await open(port);
    },
    takeCounts: () => {
      const taken = counts;
      counts = { ...NO_COUNTS };
      return taken;
    },
    secrets,
    [Symbol.asyncDispose]: closePort,
  };
}

function refuse(answer: ServerResponse, status: number, code: string): void {
  answer.writeHead(status, { 'content-type': 'application/xml', 'x-ms-error-code': code });
  answer.end(`<Error><Code>${code}</Code><Message>by the test</Message></Error>`);
}

async function bodyOf(stream: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

type Given = { readonly status: number; readonly headers: IncomingMessage['headers']; readonly body: Buffer };

/** The host that was signed stays in the head. */
function forward(upstream: URL, { method, url, headers }: IncomingMessage, body: Buffer): Promise<Given> {
  const { promise, resolve, reject } = Promise.withResolvers<Given>();
  const options = { host: upstream.hostname, port: upstream.port, method, path: url, headers };
  const make = upstream.protocol === 'https:' ? httpsRequest : httpRequest;
  const sent = make(options, (response) => {
    bodyOf(response).then(
      (bytes) => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: bytes }),
      reject,
    );
  });
  sent.on('error', reject);
  sent.end(body);
  return promise;
}

function moveExpiration(
  body: Buffer,
  { keys, lifeMs }: { readonly keys: Map<string, number>; readonly lifeMs: number | null },
): Buffer {
  const text = body.toString();
  const id = /<AccessKeyId>([^<]+)</.exec(text)?.[1];
  if (id === undefined) return body;
  const endsMs = lifeMs === null ? Infinity : Date.now() + lifeMs;
  keys.set(id, endsMs);
  if (lifeMs === null) return body;
  return Buffer.from(text.replace(/<Expiration>[^<]*</, `<Expiration>${new Date(endsMs).toISOString()}<`));
}

/** The same for a token of Google's for some folders. */
function shortenToken(
  body: Buffer,
  {
    keys,
    lifeMs,
    secrets,
  }: { readonly keys: Map<string, number>; readonly lifeMs: number | null; readonly secrets: string[] },
): Buffer {
  const given = JSON.parse(body.toString()) as { readonly access_token?: string };
  if (given.access_token === undefined) return body;
  secrets.push(given.access_token);
  keys.set(given.access_token, lifeMs === null ? Infinity : Date.now() + lifeMs);
  return lifeMs === null ? body : Buffer.from(JSON.stringify({ ...given, expires_in: Math.floor(lifeMs / 1_000) }));
}

/** Numbers in [0, 1) that are the same for the same seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
