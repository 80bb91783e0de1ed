import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { parseDuration } from '#shared/config/parse-setting.ts';
import { ByteBudget } from '#shared/byte-budget.ts';
import { requireOwnPasswordFirst } from '#shared/authorization/own-password-first.ts';
import { SkeinError } from '#shared/error.ts';
import { queryId } from '#shared/id.ts';
import { requireAction } from '../auth/authenticate.ts';
import type { Command } from '../command/command.ts';
import type { Outcome } from '../operation/outcome.ts';
import { COMMANDS, type Statement } from '../command/commands.ts';
import { CountedSink } from '../sink/counted-sink.ts';
import type { StatementDescription } from '../operation/description.ts';
import type { ResultSink } from '../sink/result-sink.ts';
import { LimitedSink } from '../sink/limited-sink.ts';
import { HeldSink } from '../sink/held-sink.ts';
import { SpooledSink, type SpoolOptions } from '../sink/spooled-sink.ts';
import { MiscountedRows } from '../sink/miscounted-rows.ts';
import { mayWriteByDefault, setting, statementTimeoutMs, type SessionState } from '../session/session.ts';
import { sizeOf } from '../statement/parameters.ts';
import { valuePlaces } from '../statement/bind-parameters.ts';
import { READ_STATEMENT, type StatementText } from '../prepare/read-statement.ts';
import { ActiveQuery } from './active-query.ts';
import { answerInTime } from './answer-in-time.ts';
import { beginCommand } from './begin-command.ts';
import { inSource, withPlace } from './error-place.ts';
import { fencedError } from './fenced-error.ts';
import { cancelQuery, findQuery, liveQueries } from './live-queries.ts';
import type { QueryRegistry } from './query-registry.ts';
import type { DescribeRequest, QueryService, RunningRequest, StatementRequest } from './query-service.ts';
import { makeCommandContext } from './make-command-context.ts';
import type { RunnerServices } from './runner-services.ts';
import { noteUnknown } from './unknown-of-catalog.ts';
import type { RunningStatement } from './running-statement.ts';
import { profileBytesMax } from '../profile/task-profile.ts';
import type { QueryType } from '../statement/query-type.ts';
import { readOnly } from '../transaction/transaction-catalog.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { doorCursors } from './door-cursors.ts';
import { describeStatement, sessionStatements } from './session-statements.ts';
import { findTransaction } from './session-transactions.ts';
import { heldOptions } from './sink-options.ts';
import { viewSession } from './view-session.ts';

/** Runs statements: gate, plan, admission, tasks, result. Every statement leaves by one path, which frees all it holds. */
export function statementRunner(services: RunnerServices): QueryService {
  // Disk for the rows of all results whose clients do not read.
  const resultSpool = new ByteBudget(services.config['coordinator.result_spool_bytes']);
  return {
    execute: (request) => execute(services, request, resultSpool),
    describe: (request) => describe(services, request),
    timeoutMs: (session) => timeoutOf(services, services.sessions.store.get(session)),
    session: (session) => viewSession(services, session),
    cursors: (owner) => doorCursors(services, owner),
    endSession: async (session) => {
      services.cursors.sessionEnded(session);
      await services.transactions.rollBack(session);
      services.sessions.store.end(session);
    },
    quarantined: ({ claims }) => services.quarantine.list(claims.tenant),
    lift: ({ claims }, id) => services.quarantine.lift(claims.tenant, id),
    live: (caller, filter) => liveQueries(services.registry, caller, filter),
    find: (caller, queryId, owner) => findQuery(services.registry, caller, { queryId, owner }),
    cancel: (caller, queryId, owner) => cancelQuery(services.registry, caller, { queryId, owner }),
  };
}

async function execute(services: RunnerServices, asked: StatementRequest, resultSpool: ByteBudget): Promise<void> {
  const { clock, registry, log, metrics, traces } = services;
  const door = asked.rowLimit === undefined ? asked.sink : new LimitedSink(asked.sink, asked.rowLimit);
  using spooled = new SpooledSink(door, { ...spoolOptions(services, asked), budget: resultSpool });
  using held = new HeldSink(spooled, heldOptions(services));
  const sink = new CountedSink(held);
  const request = { ...asked, sink };
  const active = new ActiveQuery({
    request,
    recordedBy: { epoch: services.epoch, cuRate: cuRate(services) },
    profileBytesMax: profileBytesMax(services),
    isTraced: traces !== null,
    clock,
    record: services.record,
    onEnded: (row, workClass) => {
      metrics.ended(row, workClass);
      traces?.ended({ row, workClass, queries: active.profile.queries }, request.traceParent);
    },
  });
  const session = services.sessions.store.get(request.session);
  active.limit(request.timeoutMs ?? timeoutOf(services, session));
  const refused = register(registry, active);
  const { redacted, edits, parsed } = await readText(services, request, active.signal);
  const running = {
    services,
    request,
    active,
    session,
    values: valuePlaces(edits),
    signals: new Map<string, boolean>(),
  };
  beginCommand(running, parsed.kind === 'refused' ? null : parsed.statement);
  active.received(redacted);
  let outcome: Outcome;
  try {
    if (refused !== undefined) throw refused;
    outcome = await answerInTime(active.signal, inTransaction(parsed, running));
    active.signal.throwIfAborted();
    sink.check(outcome.rowsProduced);
    active.completed({ ...outcome, rowsProduced: Math.min(outcome.rowsProduced, asked.rowLimit ?? Infinity) });
  } catch (thrown) {
    if (thrown instanceof MiscountedRows) metrics.rowsMiscounted();
    const own = fencedError(SkeinError.of(thrown), { lost: services.lost, commits: active.commits });
    const placed = withPlace(inSource(own, request.sql, edits), request.sql);
    noteUnknown(services, request.sql, placed);
    const error = active.failed(placed, sink.rows);
    const isOurs = error.entry.kind === 'internal' || error.entry.kind === 'external';
    log[isOurs ? 'error' : 'debug']({ queryId: request.queryId, err: active.redacted(error) }, 'statement failed');
    throw error;
  } finally {
    if (refused === undefined) registry.remove(active);
    active.end();
  }
  // The statement has ended, and holds nothing any more but these rows.
  await spooled.drained();
  sink.finish({ rowCount: outcome.rowsProduced, elapsedMs: active.elapsedMs() });
}

/** The sink of a statement that is only described: it has no result. */
const NO_SINK: ResultSink = {
  encoding: 'json',
  committed: false,
  progress: 0,
  planned: () => undefined,
  start: () => undefined,
  batch: () => undefined,
  hold: () => undefined,
  release: () => Promise.resolve(),
  changed: () => undefined,
  finish: () => undefined,
};

async function describe(services: RunnerServices, { types, ...asked }: DescribeRequest): Promise<StatementDescription> {
  const { clock, epoch } = services;
  const request: RunningRequest = {
    ...asked,
    queryId: queryId(randomUUID()),
    parameters: null,
    arrivedMs: clock.monotonicMs(),
    timeoutMs: undefined,
    source: null,
    traceParent: null,
    sink: NO_SINK,
  };
  const active = new ActiveQuery({
    request,
    recordedBy: { epoch, cuRate: cuRate(services) },
    profileBytesMax: 0,
    isTraced: false,
    clock,
    record: () => undefined,
    onEnded: () => undefined,
  });
  const session = services.sessions.store.get(request.session);
  active.limit(timeoutOf(services, session));
  const running = { services, request, active, session, values: [], signals: new Map<string, boolean>() };
  try {
    beginCommand(running, null);
    active.received({ text: '', secrets: null });
    return await answerInTime(active.signal, describeStatement(running, types));
  } catch (thrown) {
    const error = withPlace(SkeinError.of(thrown), request.sql);
    noteUnknown(services, request.sql, error);
    throw error;
  } finally {
    active.end();
  }
}

const spoolOptions = (
  { config }: RunnerServices,
  { caller }: Pick<StatementRequest, 'caller'>,
): Omit<SpoolOptions, 'budget'> => ({
  waitMs: config['coordinator.result_wait'],
  ttlMs: config['coordinator.result_ttl'],
  owner: caller.claims.tenant,
  folder: join(config.data_dir, 'spool'),
});

/** Compute units of an hour of the cluster as it is now. */
function cuRate({ config, scheduler }: RunnerServices): number {
  const rate = config['coordinator.cu_rate'];
  return rate === 'cores' ? scheduler.pool.live().reduce((sum, { info }) => sum + info.cores, 0) : rate;
}

function timeoutOf({ config }: RunnerServices, session: SessionState): number {
  const own = parseDuration(setting(session, 'skein.query_timeout', config));
  return Math.min(own, statementTimeoutMs(session, config) ?? own);
}

/** The error when a statement of this id is active. */
function register(registry: QueryRegistry, active: ActiveQuery): SkeinError | undefined {
  try {
    registry.add(active, active.backendPid);
    return undefined;
  } catch (error) {
    return SkeinError.of(error);
  }
}

/** Never throws: history keeps a statement that could not be read, too. */
async function readText(
  { config, texts }: RunnerServices,
  { sql, parameters, caller: { claims } }: StatementRequest,
  signal: AbortSignal,
): Promise<StatementText> {
  const limits = {
    bytesMax: config['coordinator.statement_bytes_max'],
    depthMax: config['coordinator.statement_depth_max'],
  };
  const asker = { tenant: claims.tenant, principal: claims.sub };
  const bytes = Buffer.byteLength(sql) + (parameters === null ? 0 : sizeOf(parameters));
  try {
    return await texts.work(
      READ_STATEMENT,
      { sql, parameters, limits },
      { asker, what: 'the statement', bytes, signal },
    );
  } catch (error) {
    const redacted = { text: `a statement of ${bytes} bytes, which was not read`, secrets: [] };
    return { redacted, edits: [], parsed: { kind: 'refused', error: SkeinError.of(error).toData() } };
  }
}

/** Runs a statement in the session's transaction, if there is one: its errors, also those of its text, end it. */
async function inTransaction(parsed: StatementText['parsed'], running: RunningStatement): Promise<Outcome> {
  const { services, request, active, session } = running;
  const work = async (): Promise<Outcome> => {
    if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
    return run(parsed.statement, running);
  };
  const transaction = findTransaction(services, request);
  const endsIt = parsed.kind !== 'refused' && parsed.statement.command === 'transactionControl';
  if (endsIt) return work();
  if (transaction === undefined) {
    if (request.transaction) throw new SkeinError('NO_TRANSACTION', 'there is no such transaction, or it has ended');
    if (parsed.kind !== 'refused' && writes(parsed.statement) && !mayWriteByDefault(session, services.config)) {
      throw readOnly();
    }
    return work();
  }
  if (parsed.kind !== 'refused' && goesFirst(parsed.statement, running, transaction)) {
    const outside = { ...running, request: { ...request, transaction: null } };
    return transaction.run(active, async () => {
      const outcome = await run(parsed.statement, outside);
      transaction.tables.moveOn();
      return outcome;
    });
  }
  return transaction.run(active, async () => {
    if (parsed.kind !== 'refused') requireInside(parsed.statement, transaction);
    return work();
  });
}

/** Types of statements that change something: those that only a few commands do in a transaction, and all. */
const DEFINING: ReadonlySet<QueryType> = new Set(['ddl', 'ctas', 'maintenance', 'copy']);
const WRITING: ReadonlySet<QueryType> = new Set([...DEFINING, 'insert', 'update', 'delete', 'merge']);

/** Whether a statement that a transaction cannot hold runs before it, and is committed at once: drivers are always in a transaction. */
function goesFirst(
  statement: Statement,
  { services, request, session }: RunningStatement,
  transaction: Transaction,
): boolean {
  if (!isRefusedInside(statement) || !transaction.mayWrite || !transaction.isUnchanged) return false;
  const value = setting(session, 'skein.ddl_in_transaction', services.config);
  return value === 'auto' ? request.ddlInTransaction === 'commit' : value === 'commit';
}

const typeOf = ({ command: name, input }: Statement): QueryType => {
  const command: Command = COMMANDS[name];
  return command.typeOf?.(input) ?? command.queryType;
};

const writes = (statement: Statement): boolean => WRITING.has(typeOf(statement));

function isRefusedInside({ command: name, input }: Statement): boolean {
  const command: Command = COMMANDS[name];
  return DEFINING.has(typeOf({ command: name, input } as Statement)) && command.inTransaction?.(input) !== true;
}

/** @throws IN_TRANSACTION, READ_ONLY_TRANSACTION */
function requireInside(statement: Statement, { mayWrite }: Transaction): void {
  const command: Command = COMMANDS[statement.command];
  if (isRefusedInside(statement)) {
    throw new SkeinError('IN_TRANSACTION', `${command.words[0]} cannot run inside a transaction`);
  }
  if (!mayWrite && writes(statement)) throw readOnly();
}

function run({ command: name, input }: Statement, running: RunningStatement): Promise<Outcome> {
  const { services, request, active } = running;
  const command: Command = COMMANDS[name];
  if (command.timeout === 'coordinator' && request.timeoutMs === undefined) {
    active.limit(services.config['coordinator.query_timeout']);
  }
  requireOwnPasswordFirst(request.caller.standing?.mustChangePassword, name === 'alterSelf');
  const prepared = sessionStatements(running);
  const action = command.action(input);
  if (action !== null) requireAction(request.caller, action);
  return command.run(input, makeCommandContext(running, { prepared, command, isQuery: command === COMMANDS.query }));
}
