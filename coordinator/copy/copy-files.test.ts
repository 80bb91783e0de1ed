import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import { fileCredential } from '#shared/storage/credential.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { takeCopy } from '../command/copy/take-copy.ts';
import { prove, type TakePart } from '../statement/proven.ts';
import { StatementReader } from '../statement/statement-reader.ts';
import { copyFiles } from './copy-files.ts';

/** The rights to a stage that a load asks for, before it reads or changes anything. Scopes alone cannot tell a stage from a table. */
let folder: string;
/** The actions on the stage that the catalog was asked for, and the writes that began. */
let asked: Action[];
let writes: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'skein-copy-files-'));
  writeFileSync(join(folder, 'a.csv'), '1\n');
  [asked, writes] = [[], 0];
});
afterEach(() => rmSync(folder, { recursive: true }));

const INTEGER = { name: 'i', type: { kind: 'scalar', name: 'INTEGER' } };

type Services = Parameters<typeof copyFiles>[1];

/** Loads the stage's file for a principal that may do these actions on the stage, and anything on the table. */
function copy(options: string, ...allowed: readonly Action[]): ReturnType<typeof copyFiles> {
  const open = (_principal: unknown, action: Action): Promise<unknown> => {
    asked.push(action);
    if (!allowed.includes(action)) return Promise.reject(new SkeinError('FORBIDDEN', `${action} is not allowed`));
    const location = pathToFileURL(folder).href;
    return Promise.resolve({ id: 's', location, credential: fileCredential(location) });
  };
  const names = {
    current: () => Promise.resolve({ catalog: 'lake', schema: ['files'] }),
    schema: () => Promise.resolve(['files']),
  };
  const context = {
    caller: { claims: {} },
    session: {},
    names,
    catalog: { stages: { open, loaded: () => Promise.resolve([]) } },
    signal: new AbortController().signal,
    queries: { kept: { keep: () => undefined } },
  } as unknown as CommandContext;
  const fields = [{ id: 1, name: 'i', required: false, type: { kind: 'int' } }];
  const services = {
    context,
    queries: {
      forget: () => undefined,
      prove: <T>(read: (take: TakePart) => T) => prove(read, () => Promise.resolve()),
      planLoad: () => Promise.resolve({ columns: [INTEGER], guarded: () => Promise.resolve({}) }),
    },
    target: () => Promise.resolve({ name: { table: 't' }, schema: { fields } }),
    begin: () => {
      writes += 1;
      return Promise.resolve({
        run: () => Promise.resolve({ files: [], loads: [], bytesScanned: 2, fragments: 1 }),
        end: () => Promise.resolve(),
        [Symbol.asyncDispose]: () => Promise.resolve(),
      });
    },
  } as unknown as Services;
  return copyFiles(takeCopy(new StatementReader({ text: `t FROM @box ${options}`, offset: 0 })), services);
}

test('a load asks for the right to read the stage', async () => {
  await copy('', 'stage.read');
  expect([asked, writes]).toEqual([['stage.read'], 1]);
  await expect(copy('', 'stage.write')).rejects.toMatchObject({ code: 'FORBIDDEN' });
  expect([writes, readdirSync(folder)]).toEqual([1, ['a.csv']]);
});

test.each(['PURGE = TRUE', 'PURGE = TRUE FORCE = TRUE', 'PURGE = TRUE VALIDATION_MODE = RETURN_ERRORS'])(
  '%s asks for the right to remove files of the stage, too, before anything is loaded',
  async (options) => {
    await expect(copy(options, 'stage.read')).rejects.toMatchObject({
      code: 'FORBIDDEN',
      message: 'stage.write is not allowed',
    });
    expect([asked, writes, readdirSync(folder)]).toEqual([['stage.read', 'stage.write'], 0, ['a.csv']]);
  },
);

test('PURGE = TRUE with both rights removes what was loaded whole', async () => {
  await copy('PURGE = TRUE', 'stage.read', 'stage.write');
  expect([asked, writes, readdirSync(folder)]).toEqual([['stage.read', 'stage.write'], 1, []]);
});
