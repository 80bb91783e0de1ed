import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Duplex } from 'node:stream';
import { afterAll, expect, test } from 'vitest';
import { ByteBudget } from '#shared/byte-budget.ts';
import { systemClock } from '#shared/clock.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { principalId, tenantId } from '#shared/id.ts';
import type { SizedWork } from '#shared/thread/sized-work.ts';
import type { StatementDescription } from '../../operation/description.ts';
import type { DescribeRequest, StatementRequest } from '../../query/query-service.ts';
import { SessionStore } from '../../session/session-store.ts';
import { Connection } from './connection.ts';
import type { PostgresDoor } from './entry/postgres-door.ts';
import type { Entered } from './entry/sign-in.ts';
import { WireReader } from './message/wire-reader.ts';
import { WireWriter } from './message/wire-writer.ts';

const folder = mkdtempSync(join(tmpdir(), 'connection-'));
afterAll(() => rmSync(folder, { recursive: true }));

const session = { tenant: tenantId('t'), principal: principalId('p'), kind: 'named', id: 'a' } as const;
const COLUMNS = ['a', 'b'].map((name) => ({
  name,
  typeName: 'VARCHAR',
  type: { kind: 'scalar', name: 'VARCHAR' } as const,
}));

const message = (type: string, ...parts: readonly (string | Buffer)[]): Buffer => {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as string)));
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
};
const int16 = (value: number): Buffer => Buffer.of(value >> 8, value & 0xff);
const parse = (name: string, sql: string, ...oids: readonly number[]): Buffer =>
  message('P', `${name}\0${sql}\0`, int16(oids.length), ...oids.map((oid) => Buffer.of(0, 0, oid >> 8, oid & 0xff)));
const bind = (statement = '', ...values: readonly Buffer[]): Buffer => {
  const lengths = values.flatMap((value) => [Buffer.of(0, 0, 0, value.length), value]);
  return message('B', `\0${statement}\0`, Buffer.of(0, 1, 0, 1), int16(values.length), ...lengths, int16(0));
};
const EXECUTE = message('E', '\0', Buffer.alloc(4));
const SYNC = message('S');

/** A client that has sent these bytes. @returns the types of the answers, the statements that ran, and how often something was written */
async function served(bytes: Buffer, description: StatementDescription) {
  const written: Buffer[] = [];
  let at = 0;
  const stream = new Duplex({
    read(size) {
      const end = Math.min(at + size, bytes.length);
      this.push(end > at ? bytes.subarray(at, end) : null);
      at = end;
    },
    write(chunk: Buffer, _encoding, done) {
      written.push(chunk);
      done();
    },
  });
  const ran: string[] = [];
  const execute = ({ sql, rows, sink }: StatementRequest): Promise<void> => {
    ran.push(rows === undefined ? sql : `${sql} (${rows.rowCount} rows)`);
    sink.planned({ kind: 'count', tag: 'INSERT' });
    return Promise.resolve();
  };
  const describe = ({ types }: DescribeRequest): Promise<StatementDescription> =>
    Promise.resolve({
      ...description,
      parameters: types.map((name, i) => ({ name: `${i + 1}`, type: { kind: 'scalar', name } as const })),
    } as StatementDescription);
  const store = new SessionStore({
    idleMs: 60_000,
    sessionsMax: 10,
    perPrincipalMax: 10,
    preparedBytesMax: 100_000,
    preparedBytesPerPrincipalMax: 100_000,
    clock: systemClock,
  });
  const door = {
    queries: { execute, describe, cursors: () => ({ find: () => undefined, close: () => undefined }) },
    sessions: { store },
    config: defaultConfig(),
    arrivals: { folder, budget: new ByteBudget(2 ** 30) },
    bodies: new ByteBudget(2 ** 30),
    texts: { work: (work: SizedWork<unknown, unknown>, input: unknown) => Promise.resolve(work.here(input)) },
    log: { debug: () => undefined },
    isLeaving: () => false,
  } as unknown as PostgresDoor;
  const caller = { claims: { sub: 'p', tenant: 't', scope: '', sess_epoch: 1 } };
  const entered = { caller, session, check: () => Promise.resolve() } as unknown as Entered;
  const wire = { reader: new WireReader(stream), writer: new WireWriter(stream) };
  {
    using connection = new Connection(door, entered, wire, 1);
    await connection.serve();
  }
  const out = Buffer.concat(written);
  let types = '';
  for (let i = 0; i < out.length; i += 1 + out.readInt32BE(i + 1)) types += out.toString('latin1', i, i + 1);
  return { types, ran, writes: written.length, bodyBytes: door.bodies.bytes };
}

const COPIES: StatementDescription = { kind: 'rows', tag: 'INSERT', columns: COLUMNS, parameters: [] };
const COUNTS: StatementDescription = { kind: 'count', tag: 'INSERT', parameters: [] };
const COPY = 'COPY t FROM STDIN';

test('the Sync behind an Execute is part of its COPY, and that behind the rows ends it', async () => {
  const start = [parse('', COPY), bind(), EXECUTE, SYNC];
  const { types, ran } = await served(Buffer.concat([...start, message('d', '1\t2\n'), message('c'), SYNC]), COPIES);
  // Behind ReadyForQuery: ParseComplete, BindComplete, CopyInResponse, CommandComplete, ReadyForQuery.
  expect(types).toBe('Z12GCZ');
  expect(ran).toEqual(['INSERT INTO t SELECT c0, c1 FROM "@rows/arrived" (1 rows)'.replaceAll('"', '')]);
});

test('what is left of rows behind an error is no message of its own, however it looks', async () => {
  const query = message('Q', 'DROP TABLE t\0');
  const rows = Buffer.concat([Buffer.from('a\tb\tc\n'), Buffer.alloc(2 ** 21, 'x'), query, query]);
  const { types, ran, bodyBytes } = await served(
    Buffer.concat([message('Q', `${COPY}\0`), message('d', rows), message('d', rows), message('c'), SYNC]),
    COPIES,
  );
  expect([types, ran, bodyBytes]).toEqual(['ZGEZZ', [], 0]);
});

test('answers that nobody has asked to be sent are sent before they take much memory', async () => {
  const describe = message('D', 'S\0');
  const { writes } = await served(
    Buffer.concat([parse('', 'SELECT 1'), ...Array.from({ length: 50_000 }, () => describe), SYNC]),
    COPIES,
  );
  expect(writes).toBeGreaterThan(2);
});

test('executions of one text whose parameters are declared in another way are not one', async () => {
  const sql = 'INSERT INTO t VALUES ($1)';
  const eight = Buffer.from([0x3f, 0xf0, 0, 0, 0, 0, 0, 0]);
  const some = (name: string): readonly Buffer[] =>
    Array.from({ length: 600 }, () => Buffer.concat([bind(name, eight), EXECUTE]));
  const { ran } = await served(
    Buffer.concat([parse('i', sql, 20), parse('f', sql, 701), ...some('i'), ...some('f'), SYNC]),
    COUNTS,
  );
  expect(ran.filter((one) => one.includes('AS BIGINT'))).toEqual([expect.stringContaining('(600 rows)')]);
  expect(ran.filter((one) => one.includes('AS DOUBLE'))).toEqual([expect.stringContaining('(600 rows)')]);
});
