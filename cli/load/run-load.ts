import { mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import { isUnknown } from '#shared/iceberg/write/commit-writes.ts';
import { makePrivateFolder } from '#shared/storage/private-folder.ts';
import { HASH_MACROS } from '#worker/write/hash-macros.ts';
import { UsageError } from '../exit-code.ts';
import { LOAD_USAGE, parseLoadArguments, printTableName, type LoadArguments } from './load-arguments.ts';
import { LoadOutput } from './load-output.ts';
import { loadTable, type LoadContext, type LoadRequest } from './load-table.ts';
import { findInputs, inspectInputs } from './parquet-input.ts';
import { LoadCatalog, type CatalogAccess } from './load-catalog.ts';
import { requireScale, TPCH_TABLES, tpchFiles } from './tpch.ts';

/** Dependencies of a load that the command line provides. */
export type LoadDeps = {
  /** Settings; temporary files are created below `data_dir`. */
  readonly config: Config;
  /** Finds the running cluster; called once the arguments are valid, and when the token expires. @throws NO_CLUSTER, UNAUTHENTICATED */
  readonly connect: () => Promise<CatalogAccess>;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
  /** Whether standard error is a terminal, and so shows a progress bar. */
  readonly isTty: boolean;
  /** Aborts on Ctrl-C: nothing is committed, and written files are removed. */
  readonly signal: AbortSignal;
};

/**
 * `skein load`: Parquet files, or TPC-H, into Iceberg tables.
 * @param args after `load`
 * @returns the exit code: 0 ok, 1 failed, 2 usage, 3 no cluster or token
 */
export async function runLoad(args: readonly string[], deps: LoadDeps): Promise<number> {
  const parsed = parse(args);
  const output = new LoadOutput({ ...deps, json: args.includes('--json') });
  if (parsed instanceof UsageError) {
    output.usage(parsed.message, LOAD_USAGE);
    return 2;
  }
  try {
    const catalog = await LoadCatalog.open(deps.connect);
    await using database = await openDatabase(deps.config);
    const context = { ...deps, catalog, connection: database.connection };
    if (parsed.kind === 'parquet') await loadParquet(parsed, context, output);
    else await loadTpch(parsed, context, output);
    return 0;
  } catch (thrown) {
    const error =
      deps.signal.aborted && !isUnknown(thrown)
        ? new SkeinError('QUERY_CANCELLED', 'the load was cancelled', { cause: thrown })
        : toSkeinError(thrown);
    output.stop();
    output.failed(error);
    return error.code === 'NO_CLUSTER' || error.code === 'UNAUTHENTICATED' ? 3 : 1;
  }
}

function parse(args: readonly string[]): LoadArguments | UsageError {
  try {
    return parseLoadArguments(args);
  } catch (error) {
    if (error instanceof UsageError) return error;
    if (error instanceof SkeinError) return new UsageError(error.message);
    throw error;
  }
}

type Arguments<Kind extends LoadArguments['kind']> = Extract<LoadArguments, { readonly kind: Kind }>;

async function loadParquet(args: Arguments<'parquet'>, context: LoadContext, output: LoadOutput): Promise<void> {
  const inputs = await inspectInputs(context.connection, await findInputs(args.globs));
  await loadOne(context, output, { ...args, name: args.table, inputs });
}

async function loadTpch(args: Arguments<'tpch'>, context: LoadContext, output: LoadOutput): Promise<void> {
  const { scale, mode } = args;
  const names = TPCH_TABLES.map((table) => ({
    catalog: context.config['bootstrap.catalog'],
    namespace: args.namespace.split('.'),
    table,
  }));
  await requireScale(scale);
  for (const name of mode === 'create' ? names : []) {
    if (await context.catalog.tableExists(name)) {
      throw new SkeinError('TABLE_EXISTS', `table ${printTableName(name)} exists already; --replace replaces it`);
    }
  }
  for (const name of names) {
    const files = await tpchFiles(name.table, scale, temporaryFolder(context.config), context.signal);
    try {
      const inputs = await inspectInputs(context.connection, files.paths);
      await loadOne(context, output, { name, mode, partitionBy: [], inputs });
    } finally {
      await files.remove();
    }
  }
}

async function loadOne(
  context: LoadContext,
  output: LoadOutput,
  request: Omit<LoadRequest, 'onProgress'>,
): Promise<void> {
  const table = printTableName(request.name);
  output.start(table);
  const result = await loadTable(context, { ...request, onProgress: (share) => output.progress(share) });
  output.stop();
  output.committed(table, result);
}

const temporaryFolder = (config: Config): string => join(resolve(config.data_dir), 'tmp');

/** Opens a separate DuckDB with limits; disposal removes its spilled data. */
async function openDatabase(config: Config): Promise<AsyncDisposable & { readonly connection: DuckDBConnection }> {
  makePrivateFolder(temporaryFolder(config));
  const folder = await mkdtemp(join(temporaryFolder(config), 'load-'));
  const instance = await DuckDBInstance.create(':memory:', {
    temp_directory: folder,
    memory_limit: `${config['load.memory_limit']}B`,
    autoload_known_extensions: 'false',
    autoinstall_known_extensions: 'false',
  });
  const connection = await instance.connect();
  await connection.run(
    'SET enable_progress_bar = true; SET enable_progress_bar_print = false; SET progress_bar_time = 0',
  );
  for (const macro of HASH_MACROS) await connection.run(macro);
  return {
    connection,
    [Symbol.asyncDispose]: async () => {
      connection.closeSync();
      instance.closeSync();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Maps an error; file system errors (a full disk, a read-only folder) keep their message, because the user can act on them. */
function toSkeinError(thrown: unknown): SkeinError {
  if (thrown instanceof SkeinError || !(thrown instanceof Error)) return SkeinError.of(thrown);
  const isSystem = typeof (thrown as NodeJS.ErrnoException).syscall === 'string';
  return isSystem ? new SkeinError('STORAGE_ERROR', thrown.message, { cause: thrown }) : SkeinError.of(thrown);
}
