import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { ByteBudget } from '#shared/byte-budget.ts';
import { SkeinError } from '#shared/error.ts';
import type { SizedWork } from '#shared/thread/sized-work.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { EMPTY_SESSION } from '../../../session/session.ts';
import type { StatementRequest } from '../../../query/query-service.ts';
import { ConnectionMemory } from '../message/connection-memory.ts';
import type { PostgresDoor } from '../entry/postgres-door.ts';
import type { Entered } from '../entry/sign-in.ts';
import { Statements } from './statements.ts';
import { WireReader } from '../message/wire-reader.ts';
import { WireWriter } from '../message/wire-writer.ts';

const session = { tenant: tenantId('t'), principal: principalId('p'), kind: 'named', id: 'a' } as const;

const texts = {
  work: (work: SizedWork<unknown, unknown>, input: unknown) => Promise.resolve(work.here(input)),
};

type Ran = readonly [sql: string, isInside: boolean];

/** Statements whose engine notes what it is asked, and fails what begins with FAIL and, when so told, BEGIN or COMMIT. */
function opened(failing = ''): { readonly statements: Statements; readonly ran: Ran[] } {
  const ran: Ran[] = [];
  const execute = ({ sql, transaction, sink }: StatementRequest): Promise<void> => {
    ran.push([sql, transaction === session]);
    if (sql === failing || sql.startsWith('FAIL')) return Promise.reject(new SkeinError('QUERY_CANCELLED', 'stopped'));
    sink.planned({ kind: 'nothing', tag: sql, status: sql });
    return Promise.resolve();
  };
  const store = { get: () => EMPTY_SESSION };
  const door = {
    queries: { execute },
    sessions: { store },
    texts,
    config: defaultConfig(),
    isLeaving: () => false,
  } as unknown as PostgresDoor;
  const entered = { caller: {}, session, check: () => Promise.resolve() } as unknown as Entered;
  const stream = new PassThrough();
  const wire = {
    reader: new WireReader(stream),
    writer: new WireWriter(stream),
    memory: new ConnectionMemory(new ByteBudget(0), 't'),
    pid: 1,
  };
  return { statements: new Statements(door, entered, wire), ran };
}

const run = (statements: Statements, sql: string, place: 'before Sync' | 'others follow' = 'before Sync') =>
  statements.run({ sql, text: sql, offset: 0, parameters: null, formats: [], describes: false, place });

test('a statement in a transaction asks for it, so that it is not committed by itself when that is forgotten', async () => {
  const { statements, ran } = opened();
  for (const sql of ['INSERT 1', 'BEGIN', 'INSERT 2', 'COMMIT', 'INSERT 3']) await run(statements, sql);
  expect(ran).toEqual([
    ['INSERT 1', false],
    ['BEGIN', false],
    ['INSERT 2', true],
    ['COMMIT', true],
    ['INSERT 3', false],
  ]);
});

test('a BEGIN that fails may have begun: it is rolled back, and what follows is outside of it', async () => {
  for (const sql of ['BEGIN', 'INSERT 1']) {
    const { statements, ran } = opened('BEGIN');
    await expect(run(statements, sql, 'others follow')).rejects.toThrow('stopped');
    await statements.failed();
    await run(statements, 'INSERT 2');
    expect([statements.state, ran]).toEqual([
      'I',
      [
        ['BEGIN', false],
        ['ROLLBACK', false],
        ['INSERT 2', false],
      ],
    ]);
  }
});

test('what is one transaction up to Sync is committed there, and an error of that COMMIT is thrown and leaves nothing', async () => {
  const { statements, ran } = opened('COMMIT');
  await run(statements, 'INSERT 1', 'others follow');
  await run(statements, 'INSERT 2');
  await expect(statements.settle()).rejects.toThrow('stopped');
  await statements.settle();
  expect(ran).toEqual([
    ['BEGIN', false],
    ['INSERT 1', true],
    ['INSERT 2', true],
    ['COMMIT', false],
    ['ROLLBACK', false],
  ]);
});
