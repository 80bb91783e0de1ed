import type { Command } from './command.ts';
import { deallocate } from './deallocate.ts';
import { describe } from './describe.ts';
import { execute } from './execute.ts';
import { explain } from './explain.ts';
import { prepare } from './prepare.ts';
import { query } from './query.ts';
import { reset } from './reset.ts';
import { set } from './set.ts';
import { showAllTables } from './show-all-tables.ts';
import { showAll } from './show-all.ts';
import { showCatalogs } from './show-catalogs.ts';
import { showColumns } from './show-columns.ts';
import { showSchemas } from './show-schemas.ts';
import { showTables } from './show-tables.ts';
import { show } from './show.ts';
import { summarize } from './summarize.ts';
import { transaction } from './transaction.ts';
import { use } from './use.ts';

/** Every statement that is served. */
export const COMMANDS = {
  query,
  explain,
  describe,
  prepare,
  execute,
  deallocate,
  set,
  reset,
  use,
  show,
  showAll,
  showAllTables,
  showCatalogs,
  showColumns,
  showSchemas,
  showTables,
  summarize,
  transaction,
} as const satisfies Readonly<Record<string, Command>>;

type Commands = typeof COMMANDS;
export type CommandName = keyof Commands;

/** A statement as its command has read it; plain data. */
export type Statement = {
  readonly [K in CommandName]: { readonly command: K; readonly input: ReturnType<Commands[K]['parse']> };
}[CommandName];
