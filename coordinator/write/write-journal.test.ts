import type { StoreCredential } from '#shared/storage/credential.ts';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import type { CommitOutcome } from '#shared/iceberg/write/commit-writes.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { FILE_CREDENTIAL } from '#test/support/file-credential.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { WriteIntent, WriteIntents } from './write-intents.ts';
import { WriteJournal } from './write-journal.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A database that goes away between two statements of the journal: each is sent again, in an order in which nothing is forgotten. */
let folder: string;
/** The statements that the database took, in their order, and how many of each it refuses before. */
let done: string[];
let refused: Record<string, number>;
let journal: WriteJournal;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-journal-'));
  [done, refused] = [[], {}];
});
afterEach(async () => {
  await journal.close();
  // The journal removes folders that became empty.
  rmSync(folder, { recursive: true, force: true });
});

const intentOf = (): WriteIntent => {
  const place = pathToFileURL(folder).href;
  return {
    writeId: randomUUID(),
    recordId: 'record',
    principal: { tenant: tenantId('t'), sub: principalId('p') } as WriteIntent['principal'],
    key: newUuidV7(Date.now()),
    places: { data: place, metadata: place },
    files: null,
  };
};

function open(left: readonly WriteIntent[], outcome: CommitOutcome): void {
  const take = async (statement: string): Promise<void> => {
    const times = refused[statement] ?? 0;
    refused[statement] = times - 1;
    if (times > 0) throw new Error('Connection terminated unexpectedly');
    done.push(statement);
  };
  const intents = {
    add: () => take('add'),
    remove: () => take('remove'),
    record: () => take('record'),
    takeOver: () => Promise.resolve(left),
  } as unknown as WriteIntents;
  const catalog = {
    abandonCommit: () => Promise.resolve(outcome),
    renewKey: (_tenant: string, key: StoreCredential) => Promise.resolve(key),
    storageKey: () => Promise.resolve(FILE_CREDENTIAL),
    abortUploads: () => Promise.resolve(),
  };
  journal = new WriteJournal({ intents, catalog, log: silentLogger });
}

test('the intent of a write goes, though the database was away', async () => {
  open([], 'COMMITTED');
  const write = await journal.begin(intentOf());
  refused = { remove: 1 };
  write.committed();
  await expect.poll(() => done, { timeout: patience(5_000) }).toEqual(['add', 'remove']);
});

test('the folder of a write that wrote no files goes once it is committed', async () => {
  open([], 'COMMITTED');
  mkdirSync(join(folder, 'copy'));
  (await journal.begin(intentOf())).committed();
  await expect.poll(() => done, { timeout: patience(5_000) }).toEqual(['add', 'remove']);
  expect(existsSync(folder)).toBe(false);
});

test('the intent of a write that an earlier coordinator left goes when its record has ended', async () => {
  refused = { record: 1 };
  open([intentOf()], 'COMMITTED');
  await journal.resume();
  await expect.poll(() => done, { timeout: patience(5_000) }).toEqual(['record', 'remove']);
});

test('the folder of a write without files goes, too, when an earlier coordinator left it', async () => {
  open([intentOf()], 'COMMITTED');
  mkdirSync(join(folder, 'copy'));
  await journal.resume();
  await expect.poll(() => done, { timeout: patience(5_000) }).toEqual(['record', 'remove']);
  expect(existsSync(folder)).toBe(false);
});

test('the record of a write that did not happen ends at once, and its intent stays for a while', async () => {
  refused = { record: 1 };
  open([intentOf()], 'NOT_COMMITTED');
  await journal.resume();
  await expect.poll(() => done, { timeout: patience(5_000) }).toEqual(['record']);
});
