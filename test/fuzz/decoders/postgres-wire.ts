import { mkdtempSync } from 'node:fs';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { Connection } from '#coordinator/api/postgres/connection.ts';
import type { PostgresDoor } from '#coordinator/api/postgres/entry/postgres-door.ts';
import type { Entered } from '#coordinator/api/postgres/entry/sign-in.ts';
import { welcome } from '#coordinator/api/postgres/entry/startup.ts';
import { WireError } from '#coordinator/api/postgres/message/wire-error.ts';
import { WireReader } from '#coordinator/api/postgres/message/wire-reader.ts';
import { WireWriter } from '#coordinator/api/postgres/message/wire-writer.ts';
import { Cursors } from '#coordinator/cursor/cursors.ts';
import { doorCursors } from '#coordinator/query/door-cursors.ts';
import type { DescribeRequest, StatementRequest } from '#coordinator/query/query-service.ts';
import { SessionStore } from '#coordinator/session/session-store.ts';
import { encodeMade, numberColumns } from '#coordinator/sink/made-rows.ts';
import { systemClock } from '#shared/clock.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import type { SizedWork } from '#shared/thread/sized-work.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { clientMessage, int16, int32 } from '#test/support/postgres-wire.ts';
import type { Decoder } from '../decoder.ts';
import type { Random } from '../random.ts';

/** Bytes of a client come in pieces of this size, and then the client is gone. */
const PIECE_BYTES = 7;
const config = { ...defaultConfig(), 'coordinator.statement_bytes_max': 10_000 };
const session = { tenant: tenantId('t'), principal: principalId('p'), kind: 'named', id: 'a' } as const;
const keeper = { tenant: session.tenant, sub: session.principal, scope: '', sess_epoch: 1 };
const columns = numberColumns(['n']);
const texts = {
  work: (work: SizedWork<unknown, unknown>, input: unknown) => Promise.resolve(work.here(input)),
};

/** A client who has sent these bytes and reads nothing that matters. */
function sent(bytes: Buffer): Duplex {
  const pieces = Array.from({ length: Math.ceil(bytes.length / PIECE_BYTES) }, (_, i) =>
    bytes.subarray(i * PIECE_BYTES, (i + 1) * PIECE_BYTES),
  );
  return new Duplex({
    read() {
      this.push(pieces.shift() ?? null);
    },
    write: (_chunk, _encoding, done) => done(),
  });
}

/** A door whose engine answers each statement with three rows; its sessions and cursors are real. */
function scriptedDoor(): { readonly door: PostgresDoor } & Disposable {
  const store = new SessionStore({
    idleMs: 60_000,
    sessionsMax: 10,
    perPrincipalMax: 10,
    preparedBytesMax: 100_000,
    preparedBytesPerPrincipalMax: 100_000,
    clock: systemClock,
  });
  const cursors = new Cursors({
    perSessionMax: 5,
    perPrincipalMax: 5,
    bytesMax: 10_000,
    bytesInAllMax: 100_000,
    memoryBytesMax: 100_000,
    folder: FOLDER,
    idleMs: 60_000,
    isHeldSession: () => true,
  });
  const execute = async ({ sql, sink }: StatementRequest): Promise<void> => {
    if (sql.includes('FAIL')) throw new SkeinError('INVALID_ARGUMENT', 'as asked', { position: 0 });
    sink.planned({ kind: 'rows', tag: 'SELECT', columns, timeZone: 'UTC' });
    sink.start();
    await sink.batch(encodeMade(sink.encoding, columns, [[1], [2], [3]]));
    sink.finish({ rowCount: 3, elapsedMs: 0 });
  };
  const describe = ({ sql, types }: DescribeRequest) =>
    Promise.resolve({
      kind: 'rows' as const,
      columns,
      tag: 'SELECT',
      parameters: Array.from({ length: Math.max(types.length, sql.includes('$1') ? 1 : 0) }, (_, i) => ({
        name: String(i + 1),
        type: { kind: 'scalar', name: 'BIGINT' } as const,
      })),
    });
  const transactions = { find: () => undefined } as unknown as Parameters<typeof doorCursors>[0]['transactions'];
  const queries = { execute, describe, cursors: () => doorCursors({ cursors, transactions }, { session, keeper }) };
  const log = { debug: () => undefined };
  const bodies = new ByteBudget(2 ** 24);
  const door = {
    queries,
    sessions: { store },
    config,
    log,
    bodies,
    texts,
    isLeaving: () => false,
  } as unknown as PostgresDoor;
  return { door, [Symbol.dispose]: () => cursors[Symbol.dispose]() };
}

const FOLDER = mkdtempSync(join(tmpdir(), 'fuzz-wire-'));
const entered = { caller: {}, session, source: null, check: () => Promise.resolve() } as unknown as Entered;

/** An error of the protocol is one that the client is told. */
async function told(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (error instanceof WireError) throw new SkeinError('INVALID_REQUEST', error.message, { cause: error });
    throw error;
  }
}

const STATEMENTS = [
  'SELECT 1',
  'SELECT $1',
  '',
  'FAIL',
  'BEGIN',
  'COMMIT',
  'ROLLBACK TO s',
  'INSERT 1',
  'FETCH 2 FROM p',
  'CLOSE ALL',
  'DECLARE p CURSOR FOR SELECT 1',
  "SELECT 1; SELECT '",
  'COPY t TO STDOUT',
  'COPY t FROM STDIN',
  'EXECUTE p',
];
const NAMES = ['', 'p', 'P', 'other'];

/** A number of 32 bits, often a small one. */
const whole = (random: Random): number => random.number() | 0;

function message(random: Random): Buffer {
  const [name, statement] = [random.pick(NAMES), random.pick(NAMES)];
  const count = random.below(3);
  const values = Array.from({ length: count }, () => {
    const value = random.bytes(random.below(10));
    return Buffer.concat([int32(random.chance(0.9) ? value.length : whole(random)), value]);
  });
  switch (random.pick(['Q', 'P', 'B', 'D', 'E', 'C', 'S', 'H', 'd', 'c', 'f', 'X', '?'])) {
    case 'Q':
      return clientMessage('Q', random.pick(STATEMENTS));
    case 'P':
      return clientMessage(
        'P',
        name,
        random.pick(STATEMENTS),
        int16(count),
        ...values.map(() => int32(random.pick([0, 20, 23, 25, 9_999]))),
      );
    case 'B':
      return clientMessage(
        'B',
        name,
        statement,
        int16(0),
        int16(random.chance(0.9) ? count : whole(random)),
        ...values,
        int16(0),
      );
    case 'D':
      return clientMessage('D', Buffer.from(random.pick(['S', 'P', '?'])), name);
    case 'E':
      return clientMessage('E', name, int32(whole(random)));
    case 'C':
      return clientMessage('C', Buffer.from(random.pick(['S', 'P'])), name);
    case 'S':
      return clientMessage('S');
    case 'H':
      return clientMessage('H');
    case 'd':
      return clientMessage('d', random.bytes(random.below(20)));
    case 'c':
      return clientMessage('c');
    case 'f':
      return clientMessage('f', 'no more');
    case 'X':
      return clientMessage('X');
    default: {
      const wrong = clientMessage(random.pick(['Q', 'P', 'B', '\0', 'é']), random.bytes(random.below(20)));
      if (wrong.length > 5 && random.chance(0.5)) wrong.writeInt32BE((whole(random) - 10) | 0, 1);
      return wrong;
    }
  }
}

const messages = (random: Random): Buffer =>
  Buffer.concat(Array.from({ length: 1 + random.below(20) }, () => message(random)));

const honest = Buffer.concat([
  clientMessage('Q', 'SELECT 1; SELECT 2'),
  clientMessage('P', 'p', 'SELECT $1', int16(1), int32(20)),
  clientMessage('D', Buffer.from('S'), 'p'),
  clientMessage('B', 'p', 'p', int16(0), int16(1), int32(1), Buffer.from('7'), int16(0)),
  clientMessage('E', 'p', int32(2)),
  clientMessage('E', 'p', int32(0)),
  clientMessage('C', Buffer.from('P'), 'p'),
  clientMessage('S'),
  clientMessage('X'),
]);

/** Messages of a client who has signed in, and the first ones of any client. */
export const POSTGRES_MESSAGES: Decoder = {
  name: 'postgres-messages',
  samples: [honest],
  grammar: messages,
  decode: async (input) => {
    using scripted = scriptedDoor();
    const stream = sent(input);
    const wire = { reader: new WireReader(stream), writer: new WireWriter(stream) };
    await told(new Connection(scripted.door, entered, wire, 1).serve());
  },
  errors: ['INVALID_REQUEST', 'QUERY_CANCELLED'],
};

const startup = (...parts: readonly (string | Buffer)[]): Buffer => clientMessage('', ...parts);
const VERSION_3 = 3 << 16;

export const POSTGRES_STARTUP: Decoder = {
  name: 'postgres-startup',
  samples: [
    startup(int32(VERSION_3), 'user', 'ann', 'database', 'lake', Buffer.alloc(1)),
    Buffer.concat([
      startup(int32(80_877_104)),
      startup(int32(VERSION_3 + 2), 'user', 'ann', '_pq_.x', '1', Buffer.alloc(1)),
    ]),
    startup(int32(80_877_102), int32(1), int32(2)),
  ],
  grammar: (random) =>
    startup(
      int32(
        random.pick([
          VERSION_3,
          VERSION_3 + 1,
          VERSION_3 + 9,
          2 << 16,
          80_877_102,
          80_877_103,
          80_877_104,
          whole(random),
        ]),
      ),
      ...Array.from({ length: random.below(6) }, () => random.pick(['user', 'options', '-c a=b', '', '_pq_.x'])),
      random.bytes(random.below(4)),
    ),
  decode: async (input) => {
    await told(welcome(sent(input) as Socket, undefined, () => undefined));
  },
  errors: ['INVALID_REQUEST'],
};
