import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { must } from '#shared/must.ts';
import { NO_CREDENTIAL } from '#shared/storage/credential.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { LastAnswers } from '../catalog-client/last-answers.ts';
import type { LoadedTable, TableName, TableSource } from '../resolver/table-source.ts';
import { runRecalled } from './recall.ts';
import { statementTables } from './statement-tables.ts';

const TABLES = ['a', 'b'];
const name = (table: string): TableName => ({ catalog: 'lake', namespace: ['s'], table });
const never = new AbortController().signal;

/** The catalogs' database: a version of each table, and whether the principal may read. */
type Store = { readonly versions: Map<string, number>; mayRead: boolean };

const loaded = (store: Store, { table }: TableName): LoadedTable => ({
  kind: 'found',
  name: name(table),
  version: String(store.versions.get(table)),
  metadata: {} as TableMetadata,
  allowedRoots: [],
  actions: new Set(store.mayRead ? ['table.select'] : []),
  policies: [],
  policyVersion: '',
  credential: NO_CREDENTIAL,
});

/** A coordinator that asks any of the catalogs; each message takes as long as the scheduler wants, and an answer may be lost. */
function coordinator(
  store: Store,
  scheduler: fc.Scheduler,
  { isLost, onRecall }: { readonly isLost: () => boolean; readonly onRecall: () => unknown },
): TableSource {
  const principal = { tenant: 'acme' } as Principal;
  const answers = new LastAnswers({ holds: () => false }, () => ({}) as TableMetadata);
  const load = async (names: readonly TableName[]): Promise<readonly LoadedTable[]> => {
    await scheduler.schedule(Promise.resolve(), 'request');
    const tables = names.map((one) => loaded(store, one));
    await scheduler.schedule(Promise.resolve(), 'answer');
    if (isLost()) throw new SkeinError('CATALOG_UNAVAILABLE', 'lost');
    answers.keep({ principal, names, asked: null }, tables);
    return tables;
  };
  return {
    loadTables: load,
    recallTables: (names) => {
      const recalled = answers.recall(principal, names, () => load(names));
      if (recalled !== null) onRecall();
      return recalled;
    },
    nearest: () => Promise.resolve(undefined),
  };
}

type Read = { readonly versions: readonly number[]; readonly isDenied: boolean };

/** A statement that reads all tables, as the coordinator runs it: what leaves it, leaves through `whenCurrent`. */
async function statement(source: TableSource, scheduler: fc.Scheduler): Promise<Read | 'failed'> {
  let left: Read | undefined;
  try {
    await runRecalled({ tables: statementTables(source), source }, async (tables, recall) => {
      const given = await tables.loadTables(TABLES.map(name), never);
      await scheduler.schedule(Promise.resolve(), 'read');
      const isDenied = given.some((table) => table.kind !== 'found' || !table.actions.has('table.select'));
      if (isDenied) throw new SkeinError('FORBIDDEN', 'not allowed');
      const versions = given.map((table) => (table.kind === 'found' ? Number(table.version) : 0));
      await recall.whenCurrent(() => {
        if (left !== undefined) throw new Error('rows left twice');
        left = { versions, isDenied: false };
        return undefined;
      });
    });
  } catch (error) {
    if (SkeinError.of(error).code === 'CATALOG_UNAVAILABLE') return 'failed';
    if (SkeinError.of(error).code === 'FORBIDDEN') return { versions: [], isDenied: true };
    throw error;
  }
  return left ?? 'failed';
}

type Step =
  | { readonly kind: 'commit'; readonly tables: readonly string[] }
  | { readonly kind: 'rights'; readonly mayRead: boolean }
  | { readonly kind: 'read'; readonly by: number };
const steps: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant('commit' as const), tables: fc.subarray(TABLES, { minLength: 1 }) }),
  fc.record({ kind: fc.constant('rights' as const), mayRead: fc.boolean() }),
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), by: fc.nat({ max: 1 }) }) },
);

test('a statement sees every commit and every right that was acknowledged before it began, all tables at one time', async () => {
  let recalls = 0;
  let reads = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.scheduler(),
      fc.array(fc.array(steps, { maxLength: 15 }), { maxLength: 4 }),
      fc.infiniteStream(fc.nat({ max: 19 })),
      async (scheduler, clients, dice) => {
        const store: Store = { versions: new Map(TABLES.map((table) => [table, 0])), mayRead: true };
        const isLost = (): boolean => dice.next().value === 0;
        const onRecall = (): unknown => (recalls += 1);
        const coordinators = [0, 1].map(() => coordinator(store, scheduler, { isLost, onRecall }));
        /** Every state that the store has had. */
        const states = [{ versions: [0, 0], mayRead: true }];
        let acknowledged = 0;
        const change = async (make: () => void): Promise<void> => {
          await scheduler.schedule(Promise.resolve(), 'change');
          make();
          states.push({ versions: [...store.versions.values()], mayRead: store.mayRead });
          const at = states.length - 1;
          await scheduler.schedule(Promise.resolve(), 'acknowledged');
          acknowledged = Math.max(acknowledged, at);
        };
        const read = async (by: number): Promise<void> => {
          await scheduler.schedule(Promise.resolve(), 'begin');
          const from = acknowledged;
          const result = await statement(must(coordinators[by], 'a coordinator'), scheduler);
          if (result === 'failed') return;
          const seen = states.slice(from);
          const isOne = result.isDenied
            ? seen.some(({ mayRead }) => !mayRead)
            : seen.some(({ versions, mayRead }) => mayRead && versions.join() === result.versions.join());
          expect(isOne, `${JSON.stringify(result)} of ${JSON.stringify(seen)}`).toBe(true);
          reads += 1;
        };
        const take = (step: Step): Promise<void> => {
          if (step.kind === 'read') return read(step.by);
          if (step.kind === 'rights') return change(() => (store.mayRead = step.mayRead));
          return change(() => {
            for (const table of step.tables) store.versions.set(table, (store.versions.get(table) ?? 0) + 1);
          });
        };
        const work = clients.map(async (own) => {
          for (const step of own) await take(step);
        });
        await scheduler.waitFor(Promise.all(work));
      },
    ),
    { numRuns: 300, seed: fixedSeed() },
  );
  expect(recalls).toBeGreaterThan(300);
  expect(reads).toBeGreaterThan(1_000);
});

test('only the query is given recalled tables, each once; what else the statement makes of its tables is made of them as they are', async () => {
  const asked: string[] = [];
  const store: Store = { versions: new Map(TABLES.map((table) => [table, 2])), mayRead: true };
  const old: Store = { versions: new Map(TABLES.map((table) => [table, 1])), mayRead: true };
  const source: TableSource = {
    loadTables: (names) => {
      asked.push(`load ${names.map(({ table }) => table).join()}`);
      return Promise.resolve(names.map((one) => loaded(store, one)));
    },
    recallTables: (names) => {
      asked.push(`recall ${names.map(({ table }) => table).join()}`);
      return { tables: names.map((one) => loaded(old, one)), areCurrent: Promise.resolve(false) };
    },
    nearest: () => Promise.resolve(undefined),
  };
  const tables = statementTables(source);
  const versionsIn = async (from: TableSource): Promise<readonly string[]> =>
    (await from.loadTables(TABLES.map(name), never)).map((table) => (table.kind === 'found' ? table.version : ''));
  const seen: string[] = [];
  await runRecalled({ tables, source }, async (given) => {
    for (const one of [given, given, tables]) seen.push((await versionsIn(one)).join());
  });
  // The first run, whose end nobody sees, and the second.
  expect(seen).toEqual(['1,1', '1,1', '2,2', '2,2', '2,2', '2,2']);
  expect(asked).toEqual(['recall a,b', 'load a,b']);
});
