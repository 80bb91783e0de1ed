import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { readManifest } from '#shared/iceberg/read-manifest.ts';
import { ownManifestReader } from '#shared/iceberg/write/rewrite-manifests.ts';
import { printSchema } from '#shared/iceberg/schema.ts';
import { currentSchema, readTableMetadata, specById, type TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { appendFiles } from '#shared/iceberg/write/append-files.ts';
import {
  commitWrites,
  sendCommit,
  type CommitOutcome,
  type WriteCatalog,
} from '#shared/iceberg/write/commit-writes.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import { deleteAllFiles } from '#shared/iceberg/write/delete-all-files.ts';
import { replaceFiles } from '#shared/iceberg/write/replace-files.ts';
import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import { printJson, type JsonObject } from '#shared/json.ts';
import { must, unreachable } from '#shared/must.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { metadataOf, NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

/**
 * Statements of several writers to one table, interleaved: each loads the table when it begins, and commits later, on whatever the others
 * have made of the table meanwhile. The catalog, the manifests and the retries are real; a model says which commits succeed, and which rows
 * the table has after each.
 */

/** A write of one table: what the statements of SQL do with it. */
type Kind = 'insert' | 'optimize' | 'truncate' | 'alter' | 'rollback';
/** A turn of a writer: it begins a statement, of this kind, or commits the one that it has begun. */
type Turn = { readonly writer: number; readonly kind: Kind; readonly back: number };

/** A table in the model: its files by name, with their rows; `snapshots` has those of which the current one is made. */
type Table = {
  readonly files: ReadonlyMap<string, readonly number[]>;
  readonly schema: number;
  /** The current snapshot and those before it, the latest first; a snapshot has the files that the table had after it. */
  readonly line: readonly Snapshot[];
};
type Snapshot = { readonly files: Table['files'] };

/** A statement that has loaded the table and not committed yet. */
type Begun = {
  readonly kind: Kind;
  /** The table in the model when it began. */
  readonly seen: Table;
  readonly base: TableMetadata;
  /** The file that an INSERT or an OPTIMIZE has written, and its rows. */
  readonly made: readonly [name: string, rows: readonly number[]];
  /** Snapshots to go back. */
  readonly back: number;
};

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startTestCatalog();
});
afterAll(() => catalog?.[Symbol.asyncDispose]());

const after = ({ schema, line }: Table, files: Table['files']): Table => ({
  files,
  schema,
  line: [{ files }, ...line],
});

/** The table after the statement's commit; undefined when it must be refused. */
function expected(table: Table, { kind, seen, made: [name, rows], back }: Begun): Table | undefined {
  const isShapeKept = table.schema === seen.schema;
  switch (kind) {
    case 'insert':
      return isShapeKept ? after(table, new Map([...table.files, [name, rows]])) : undefined;
    case 'optimize': {
      const isThere = [...seen.files.keys()].every((file) => table.files.has(file));
      if (!isShapeKept || !isThere) return undefined;
      const others = [...table.files].filter(([file]) => !seen.files.has(file));
      return after(table, new Map([...others, [name, rows]]));
    }
    case 'truncate':
      return isShapeKept ? after(table, new Map()) : undefined;
    case 'alter':
      return { ...table, schema: table.schema + 1 };
    case 'rollback': {
      if (table.line[0] !== seen.line[0]) return undefined;
      const line = table.line.slice(back);
      return { ...table, line, files: must(line[0], 'there is a snapshot to go back to').files };
    }
    default:
      return unreachable(kind);
  }
}

const rowsOf = ({ files }: Pick<Table, 'files'>): readonly number[] => [...files.values()].flat().sort((a, b) => a - b);

/** A table of the catalog, and the writers that change it. */
class Subject {
  readonly #name: string;
  readonly #writes: WriteCatalog;
  #files = 0;
  #rows = 0;

  constructor(name: string) {
    this.#name = name;
    const caller = { principal: catalog.principal() };
    this.#writes = {
      loadTable: () => this.load(),
      commitTables: async (key, transaction) => {
        await catalog.call('CommitTables', { ...caller, key, transaction });
      },
      abandonCommit: async (key) =>
        (await catalog.call<{ outcome: CommitOutcome }>('AbandonCommit', { ...caller, key })).outcome,
    };
  }

  async create(): Promise<void> {
    const { status } = await catalog.rest('POST', `${NS}/default/tables`, {
      body: { name: this.#name, schema: SCHEMA },
    });
    expect(status).toBe(200);
  }

  async load(): Promise<TableMetadata> {
    return readTableMetadata(metadataOf(await catalog.rest('GET', `${NS}/default/tables/${this.#name}`)));
  }

  /** Loads the table and decides what to do with it; undefined when there is nothing to do. */
  async begin({ kind, back }: Turn, seen: Table): Promise<Begun | undefined> {
    const base = await this.load();
    const none = {
      optimize: seen.files.size === 0,
      rollback: seen.line.length <= back,
      truncate: seen.line.length === 0,
    };
    if (kind in none && none[kind as keyof typeof none]) return undefined;
    const rows = kind === 'optimize' ? rowsOf(seen) : [++this.#rows];
    return { kind, seen, base, made: [`${++this.#files}.parquet`, rows], back };
  }

  /** Commits; false when it is refused for what others have committed. */
  async commit(begun: Begun): Promise<boolean> {
    try {
      await (begun.kind === 'alter' || begun.kind === 'rollback' ? this.#change(begun) : this.#write(begun));
      return true;
    } catch (error) {
      if (error instanceof SkeinError && error.code === 'COMMIT_CONFLICT') return false;
      throw error;
    }
  }

  async #write({ base, kind, seen, made: [name, rows] }: Begun): Promise<void> {
    const added = [dataFile(`${base.location}/${name}`, rows)];
    const { sequenceNumber } = base.snapshots.get(base.currentSnapshotId ?? 0n) ?? { sequenceNumber: 0n };
    const changes: Partial<Record<Kind, () => SnapshotChange>> = {
      insert: () => appendFiles(added),
      truncate: deleteAllFiles,
      optimize: () =>
        replaceFiles({
          operation: 'replace',
          removed: new Set([...seen.files.keys()].map((file) => `${base.location}/${file}`)),
          removedDeletes: new Set(),
          added,
          specId: 0,
          sequenceNumber,
          readAt: sequenceNumber,
        }),
    };
    const storage = openStorage(base.location, FILE_CREDENTIAL);
    const write = {
      writeId: crypto.randomUUID(),
      name: { catalog: 'lake', namespace: ['default'], table: this.#name },
      shape: 'keep',
      base,
      schema: currentSchema(base),
      spec: specById(base, base.defaultSpecId),
      change: must(changes[kind], 'a write of files')(),
    } as const;
    await commitWrites(this.#writes, storage, [write], {
      retriesMax: 20,
      settleMs: 1_000,
      signal: new AbortController().signal,
      manifests: ownManifestReader(storage),
    });
  }

  /** ALTER TABLE ADD COLUMN is made of the table as it is; a rollback requires that nobody has committed rows since it began. */
  async #change({ kind, base, back }: Begun): Promise<void> {
    for (let attempt = 0; ; attempt++) {
      const now = await this.load();
      const { updates, requirements } = kind === 'alter' ? columnAdded(now) : rolledBack(base, back);
      const identifier = { catalog: 'lake', namespace: ['default'], name: this.#name };
      const transaction = { 'table-changes': [{ identifier, requirements, updates }] };
      const refusal = await sendCommit(this.#writes, Buffer.from(printJson(transaction)), {
        settleMs: 1_000,
        signal: new AbortController().signal,
      });
      if (refusal === undefined) return;
      if (kind === 'rollback' || attempt === 20) throw refusal;
    }
  }

  /** The table as the catalog and its manifests have it. */
  async read(): Promise<{ readonly files: readonly string[]; readonly schemas: number; readonly line: number }> {
    const table = await this.load();
    const files: string[] = [];
    const { currentSnapshotId: snapshotId, location } = table;
    const storage = openStorage(location, FILE_CREDENTIAL);
    if (snapshotId !== null) {
      const manifests = await ownManifestReader(storage).list({ table, snapshotId, allowedRoots: [location] });
      for (const manifest of manifests) {
        const batches = readManifest(storage, manifest, specById(table, 0), () => undefined, limitsApart(2 ** 20));
        for await (const { entries } of batches) {
          const live = entries.filter(({ status }) => status !== 'deleted');
          files.push(...live.map(({ file }) => file.path.slice(location.length + 1)));
        }
      }
    }
    let line = 0;
    for (let id = snapshotId; id !== null; id = table.snapshots.get(id)?.parentSnapshotId ?? null) line += 1;
    const total = table.snapshots.get(snapshotId ?? 0n)?.summary['total-data-files'] ?? '0';
    expect(total).toBe(String(files.length));
    return { files: files.sort(), schemas: table.schemas.length, line };
  }
}

function columnAdded(now: TableMetadata): {
  readonly requirements: readonly JsonObject[];
  readonly updates: readonly JsonObject[];
} {
  const schema = currentSchema(now);
  const id = now.lastColumnId + 1;
  const field = { id, name: `c${id}`, required: false, type: { kind: 'long' } } as const;
  return {
    requirements: [{ type: 'assert-current-schema-id', 'current-schema-id': now.currentSchemaId }],
    updates: [
      {
        action: 'add-schema',
        schema: printSchema({ ...schema, fields: [...schema.fields, field] }),
        'last-column-id': id,
      },
      { action: 'set-current-schema', 'schema-id': -1 },
    ],
  };
}

function rolledBack(base: TableMetadata, back: number): ReturnType<typeof columnAdded> {
  let id = base.currentSnapshotId;
  for (let i = 0; i < back; i++) id = base.snapshots.get(id ?? 0n)?.parentSnapshotId ?? null;
  const current = must(base.currentSnapshotId, 'a snapshot to go back from');
  const to = must(id, 'a snapshot to go back to');
  return {
    requirements: [{ type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': current }],
    updates: [{ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': to }],
  };
}

const NO_VALUES = new Map<number, never>();
const dataFile = (path: string, rows: readonly number[]): NewDataFile => ({
  path,
  recordCount: rows.length,
  sizeBytes: 100,
  partition: [],
  columnSizes: NO_VALUES,
  valueCounts: NO_VALUES,
  nullCounts: NO_VALUES,
  nanCounts: NO_VALUES,
  lower: NO_VALUES,
  upper: NO_VALUES,
  splitOffsets: [4],
});

const asRead = ({ files, schema, line }: Table): Awaited<ReturnType<Subject['read']>> => ({
  files: [...files.keys()].sort(),
  schemas: schema,
  line: line.length,
});

/** All orders in which statements may have committed. */
const orders = (statements: readonly Begun[]): readonly (readonly Begun[])[] =>
  statements.length <= 1
    ? [statements]
    : statements.flatMap((first) => orders(statements.filter((one) => one !== first)).map((rest) => [first, ...rest]));

/** The table after statements in an order, and those that were refused. */
function inOrder(
  table: Table,
  order: readonly Begun[],
): { readonly table: Table; readonly refused: ReadonlySet<Begun> } {
  const refused = new Set<Begun>();
  let now = table;
  for (const begun of order) {
    const next = expected(now, begun);
    if (next === undefined) refused.add(begun);
    now = next ?? now;
  }
  return { table: now, refused };
}

let tables = 0;

/** Lets writers take turns, then lets all that have begun commit at once. */
async function play(turns: readonly Turn[]): Promise<void> {
  const subject = new Subject(`t${tables++}`);
  await subject.create();
  let table: Table = { files: new Map(), schema: 1, line: [] };
  const open = new Map<number, Begun>();
  for (const turn of turns) {
    const begun = open.get(turn.writer);
    if (begun === undefined) {
      const next = await subject.begin(turn, table);
      if (next !== undefined) open.set(turn.writer, next);
      continue;
    }
    open.delete(turn.writer);
    const next = expected(table, begun);
    expect(await subject.commit(begun), begun.kind).toBe(next !== undefined);
    table = next ?? table;
    expect(await subject.read()).toEqual(asRead(table));
  }
  const left = [...open.values()];
  const taken = await Promise.all(left.map((begun) => subject.commit(begun)));
  const found = await subject.read();
  const possible = orders(left).map((order) => inOrder(table, order));
  const outcomes = possible.map(({ table: made, refused }) => ({
    ...asRead(made),
    taken: left.map((begun) => !refused.has(begun)),
  }));
  expect(outcomes).toContainEqual({ ...found, taken });
}

const turn: fc.Arbitrary<Turn> = fc.record({
  writer: fc.integer({ min: 0, max: 2 }),
  kind: fc.constantFrom<Kind>('insert', 'insert', 'insert', 'optimize', 'optimize', 'truncate', 'alter', 'rollback'),
  back: fc.integer({ min: 1, max: 3 }),
});

test('writers in any order: each commit ends as the model says, and the table has the rows of those that were taken', async () => {
  await fc.assert(fc.asyncProperty(fc.array(turn, { minLength: 6, maxLength: 24 }), play), { numRuns: 20 });
}, 300_000);

test('each two writers that begin together, in both orders and at once, on a table of two files', async () => {
  const kinds: readonly Kind[] = ['insert', 'optimize', 'truncate', 'alter', 'rollback'];
  const by = (writer: number, kind: Kind): Turn => ({ writer, kind, back: 1 });
  const first = [by(2, 'insert'), by(2, 'insert'), by(2, 'insert'), by(2, 'insert')];
  for (const a of kinds) {
    for (const b of kinds) {
      const begin = [...first, by(0, a), by(1, b)];
      await play([...begin, by(0, a), by(1, b)]);
      await play(begin);
    }
  }
}, 300_000);
