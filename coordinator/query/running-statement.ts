import { onePage } from '../catalog-client/pages.ts';
import { SkeinError } from '#shared/error.ts';
import { commitManifests } from '../write/commit-manifests.ts';
import type { PagedAnswer } from '../operation/answer.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import type { PreparedStatements } from '../operation/prepared-statements.ts';
import { numberColumns, numbersBatch } from '../sink/count-batch.ts';
import { textBatch } from '../sink/text-batch.ts';
import { unloadRows } from '../unload/unload-rows.ts';
import { StatementWrites } from './statement-writes.ts';
import { tenantGroups } from '../workload/group-snapshot.ts';
import { callersTables } from '../session/callers-tables.ts';
import { cancelQuery, liveQueries } from './live-queries.ts';
import type { RunningStatement } from './running.ts';
import { metadataRows } from '../binding/metadata-rows.ts';
import type { CheckColumns } from './statement-parts.ts';
import { StatementQueries } from './statement-queries.ts';
import { statementRows } from './statement-rows.ts';
import { findTransaction, sessionTransactions } from './session-transactions.ts';
import { leasedTables, statementTables } from './statement-tables.ts';

/** The differences between a statement and the prepared statement that it runs. */
type ContextParts = {
  readonly prepared: PreparedStatements;
  /** The statement is one query, which may read its tables as a lease has them. */
  readonly isQuery?: boolean;
  /** Called with the columns of the statement's query before it runs. */
  readonly checkColumns?: CheckColumns;
};

/** Makes the context in which a statement's command runs. */
export function commandContext(
  running: RunningStatement,
  { prepared, isQuery = false, checkColumns = () => Promise.resolve() }: ContextParts,
): CommandContext {
  const { services, request, active, session } = running;
  const { store, names, catalog: shared } = services.sessions;
  const inner = findTransaction(services, request)?.parts;
  const { catalog, journal, commits } = inner ?? {
    catalog: shared,
    journal: services.writes,
    commits: services.commits,
  };
  const rows = statementRows(services.config['coordinator.rows_bytes_max'], () => context);
  const source = callersTables(catalog, request.caller);
  const { tenant } = request.caller.claims;
  const ofMetadata = metadataRows(services.tables, tenant, services.config['coordinator.metadata_rows_bytes_max']);
  const tables = { ...statementTables(source), ...rows, ...ofMetadata };
  const context: CommandContext = {
    caller: request.caller,
    config: services.config,
    signal: active.signal,
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
    }),
    prepared,
    transactions: sessionTransactions(running),
    records: {
      history: (asked) => services.history.pages(request.caller, asked),
      live: (limit) => liveQueries(services.registry, request.caller, { state: null, owner: null, limit }).queries,
      cancel: (queryId) => cancelQuery(services.registry, request.caller, { queryId, owner: null }),
      groups: () => tenantGroups(services.admission, request.caller.claims.tenant),
    },
    writes: new StatementWrites({ config: services.config, journal, commits, statement: active }, () => context),
    unload: (unload) => unloadRows(unload, context, { journal: services.unloads, statement: active }),
    ...answersOf(running),
  };
  return context;
}

/** The ways in which a command sends its result. */
function answersOf(
  running: RunningStatement,
): Pick<CommandContext, 'answer' | 'answerPages' | 'answerReturned' | 'answerCount' | 'answerNumbers'> {
  const { request } = running;
  const answerNumbers: CommandContext['answerNumbers'] = async (numbers) => {
    const { sink } = request;
    sink.start({ columns: numberColumns(Object.keys(numbers)), timeZone: NO_ZONE });
    await sink.batch(numbersBatch(sink.encoding, Object.values(numbers)));
    return { rowsProduced: 1, bytesScanned: 0, fragments: 0 };
  };
  return {
    answer: ({ columns, rows }) => answer({ columns, pages: onePage(rows) }, running),
    answerPages: (pages) => answer(pages, running),
    answerReturned: async (count) => {
      // The rows are committed, whether the client waits for them or not.
      await request.sink.release().catch((error: unknown) => {
        if (SkeinError.of(error).code !== 'QUERY_CANCELLED') throw error;
      });
      return { rowsProduced: count, bytesScanned: 0, fragments: 0 };
    },
    answerCount: (count) => answerNumbers({ count }),
    answerNumbers,
  };
}

/** The coordinator's own results have text columns only, so their time zone is never used. */
const NO_ZONE = 'UTC';

async function answer(
  { columns, pages }: PagedAnswer,
  { request: { sink }, active: { signal } }: RunningStatement,
): Promise<Outcome> {
  signal.throwIfAborted();
  sink.start({ columns, timeZone: NO_ZONE });
  let rowsProduced = 0;
  for await (const rows of pages) {
    // A statement that was stopped may have been answered already.
    signal.throwIfAborted();
    rowsProduced += rows.length;
    await sink.batch(textBatch(sink.encoding, columns.length, rows));
  }
  return { rowsProduced, bytesScanned: 0, fragments: 0 };
}
