import { SkeinError } from '#shared/error.ts';
import { signalKey } from '#shared/sql/statement-context.ts';
import { commitManifests } from '../write/commit-manifests.ts';
import type { Command } from '../command/command.ts';
import { paged, type PagedAnswer } from '../operation/answer.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { PreparedStatements } from '../operation/prepared-statements.ts';
import { encodeMade, numberColumns } from '../sink/made-rows.ts';
import { unloadRows } from '../unload/unload-rows.ts';
import { StatementWrites } from './statement-writes.ts';
import { tenantGroups } from '../workload/group-snapshot.ts';
import { callersTables } from '../session/callers-tables.ts';
import { arrangedAnswer } from './arrange-result.ts';
import { activityRows, signalBackend } from './backend-activity.ts';
import { cancelQuery, liveQueries } from './live-queries.ts';
import type { RunningStatement } from './running-statement.ts';
import { rowsBudget } from '../binding/encode-rows.ts';
import { ARRIVED_ROWS } from '../binding/table-rows.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import { catalogRows } from '../session/catalog-rows.ts';
import type { TableSource } from '../binding/table-source.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import { metadataRows } from '../binding/metadata-rows.ts';
import type { CheckColumns } from './statement-parts.ts';
import { StatementQueries } from './statement-queries.ts';
import { statementRows } from './statement-rows.ts';
import { findTransaction, sessionTransactions } from './session-transactions.ts';
import { sessionCursors } from './session-cursors.ts';
import { leasedTables, statementTables } from './statement-tables.ts';

/** The differences between a statement and the prepared statement that it runs. */
type ContextParts = {
  readonly prepared: PreparedStatements;
  readonly command: Pick<Command, 'tag' | 'words'>;
  /** The statement is one query, which may read its tables as a lease has them. */
  readonly isQuery?: boolean;
  /** Called with the columns of the statement's query before it runs. */
  readonly checkColumns?: CheckColumns;
};

/** As in `ResultShape`. */
const tagOf = ({ tag, words }: Pick<Command, 'tag' | 'words'>): string => tag ?? words[0] ?? '';

/** Makes the context in which a statement's command runs. */
export function makeCommandContext(
  running: RunningStatement,
  { prepared, command, isQuery = false, checkColumns = () => Promise.resolve() }: ContextParts,
): CommandContext {
  const { services, request, active, session } = running;
  const tag = tagOf(command);
  const { store, names, catalog: shared } = services.sessions;
  const inner = findTransaction(services, request)?.parts;
  const { catalog, journal, commits } = inner ?? {
    catalog: shared,
    journal: services.writes,
    commits: services.commits,
  };
  const rows = statementRows(services.config['coordinator.rows_bytes_max'], () => context);
  if (request.rows !== undefined) {
    rows.kept.keep(ARRIVED_ROWS, { kind: 'rows', rows: request.rows, policies: NO_POLICIES });
  }
  const source = callersTables(catalog, request.caller);
  const { tenant } = request.caller.claims;
  const ofMetadata = metadataRows(services.tables, tenant, services.config['coordinator.metadata_rows_bytes_max']);
  const views = viewsOf(running, catalog, source);
  const outside = inner === undefined ? source : callersTables(shared, request.caller);
  const committed = isQuery ? leasedTables(statementTables(outside), outside) : statementTables(outside);
  const tables = { ...statementTables(source), ...rows, ...ofMetadata, ...views, committed };
  const context: CommandContext = {
    caller: request.caller,
    config: services.config,
    signal: active.signal,
    log: services.log,
    beginCommit: () => active.beginCommit(),
    session,
    updateSession: (change) => store.update(request.session, change),
    names,
    catalog,
    tables,
    files: {
      unreachable: (asked, call) => services.tables.unreachable({ ...asked, tenant }, call),
      orphans: (asked, call) => services.tables.orphans({ ...asked, tenant }, call),
      manifests: (table) => commitManifests(services.tables, table, { tenant, signal: active.signal }),
    },
    openWrites: () => services.writes.open(),
    queries: new StatementQueries({
      ...running,
      tables: isQuery ? leasedTables(tables, source) : tables,
      source,
      checkColumns,
      tag,
    }),
    prepared,
    cursors: sessionCursors(
      running,
      (own) => makeCommandContext(own, { prepared, command: { words: ['SELECT'] }, isQuery: true }).queries,
    ),
    transactions: sessionTransactions(running),
    records: recordsOf(running),
    writes: new StatementWrites({ config: services.config, journal, commits, statement: active }, () => context),
    unload: (unload) => unloadRows(unload, context, { journal: services.unloads, statement: active }),
    ...answersOf(running, tag),
  };
  return context;
}

/** The relations of INFORMATION_SCHEMA and of Postgres' catalog, as the statement sees them. */
function viewsOf(
  { services, request, session }: RunningStatement,
  catalog: CatalogClient,
  tables: TableSource,
): ReturnType<typeof catalogRows> {
  const { config, sessions } = services;
  const { caller } = request;
  return catalogRows({
    catalog,
    names: sessions.names,
    caller,
    session,
    encoded: sessions.encoded,
    take: rowsBudget(config['coordinator.metadata_rows_bytes_max'], {
      what: 'the rows of INFORMATION_SCHEMA that the statement reads',
      key: 'coordinator.metadata_rows_bytes_max',
    }),
    activity: () => activityRows(services, caller),
    config,
    isPostgres: request.backendPid !== undefined,
    tables,
  });
}

/** Other statements, connections and groups, as far as the caller may see them. */
const recordsOf = ({ services, request, signals }: RunningStatement): CommandContext['records'] => ({
  history: (asked) => services.history.pages(request.caller, asked),
  live: (limit) => liveQueries(services.registry, request.caller, { state: null, owner: null, limit }).queries,
  cancel: (queryId) => cancelQuery(services.registry, request.caller, { queryId, owner: null }),
  signal: (signal, named) => {
    const pid = named ?? request.backendPid ?? 0;
    signals.set(signalKey(signal, pid), signalBackend(services, request.caller, { pid, signal }));
  },
  groups: () => tenantGroups(services.admission, request.caller.claims.tenant),
});

/** The ways in which a command sends its result. */
function answersOf(
  running: RunningStatement,
  tag: string,
): Pick<CommandContext, 'answer' | 'answerPages' | 'answerReturned' | 'answerCount' | 'answerNumbers'> {
  const { request, active } = running;
  const answerNumbers: CommandContext['answerNumbers'] = async (numbers) => {
    const { sink } = request;
    const columns = numberColumns(Object.keys(numbers));
    sink.planned({ kind: 'rows', tag, columns, timeZone: ROWS_ZONE });
    sink.start();
    await sink.batch(encodeMade(sink.encoding, columns, [Object.values(numbers)]));
    return ONE_ROW;
  };
  return {
    answer: (given) => {
      if (!('status' in given)) return answer(paged(given), running, tag);
      active.signal.throwIfAborted();
      request.sink.planned({ kind: 'nothing', ...given });
      return Promise.resolve(ONE_ROW);
    },
    answerPages: (pages) => answer(pages, running, tag),
    answerReturned: async (count) => {
      // The rows are committed, whether the client waits for them or not.
      await request.sink.release().catch((error: unknown) => {
        if (SkeinError.of(error).code !== 'QUERY_CANCELLED') throw error;
      });
      request.sink.changed(count);
      return { rowsProduced: count, bytesScanned: 0, fragments: 0 };
    },
    answerCount: (count) => {
      request.sink.planned({ kind: 'count', tag });
      request.sink.changed(count);
      return Promise.resolve(ONE_ROW);
    },
    answerNumbers,
  };
}

/** The times of rows that the coordinator makes are in UTC, whatever the session's zone. */
const ROWS_ZONE = 'UTC';

/** A count, a status, and numbers are one row where they are rows. */
const ONE_ROW: Outcome = { rowsProduced: 1, bytesScanned: 0, fragments: 0 };

async function answer(
  given: PagedAnswer,
  { request, active: { signal } }: RunningStatement,
  tag: string,
): Promise<Outcome> {
  const { sink } = request;
  const { columns, pages } = arrangedAnswer(given, request);
  signal.throwIfAborted();
  sink.planned({ kind: 'rows', tag, columns, timeZone: ROWS_ZONE });
  sink.start();
  let rowsProduced = 0;
  for await (const rows of pages) {
    // A statement that was stopped may have been answered already.
    signal.throwIfAborted();
    rowsProduced += rows.length;
    await sink.batch(encodeMade(sink.encoding, columns, rows));
  }
  return { rowsProduced, bytesScanned: 0, fragments: 0 };
}
