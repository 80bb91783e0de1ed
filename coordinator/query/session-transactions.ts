import type { SessionTransactions } from '../operation/session-transactions.ts';
import { callersTables } from '../session/callers-tables.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { commitManifests } from '../write/commit-manifests.ts';
import { principalOf } from '#shared/authorization/principal.ts';
import { endLater } from '../write/write-journal.ts';
import { sessionText } from '../session/session-store.ts';
import type { SessionMark, Transaction } from '../transaction/transaction.ts';
import type { StatementRequest } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';
import type { RunningStatement } from './running-statement.ts';

/** The transaction that a statement runs in, if there is one. */
export const findTransaction = (
  { transactions }: Pick<RunnerServices, 'transactions'>,
  { session, transaction }: Pick<StatementRequest, 'session' | 'transaction'>,
): Transaction | undefined => (transaction === null ? undefined : transactions.find(transaction ?? session));

/** BEGIN, COMMIT, ROLLBACK and savepoints of a statement's session. */
export function sessionTransactions({ services, request, active }: RunningStatement): SessionTransactions {
  const { config, transactions, cursors, writes: journal, tables } = services;
  const { catalog, store } = services.sessions;
  const { signal, recordId } = active;
  const { caller } = request;
  const { tenant } = caller.claims;
  const session = request.transaction ?? request.session;
  const isOwn = sessionText(session) === sessionText(request.session);
  const mark = (): SessionMark => ({ state: isOwn ? store.get(session) : null, cursors: cursors.mark });
  return {
    begin: (mode) => transactions.begin(session, { ...mode, begun: mark() }),
    commit: () =>
      transactions.commit(session, active, (transaction) => {
        active.beginCommit();
        return commitTransaction(transaction, {
          principal: principalOf(caller.claims),
          recordId,
          signal,
          catalog,
          tables: callersTables(catalog, caller),
          manifests: (table) => commitManifests(tables, table, { tenant, signal }),
          journal,
          retriesMax: config['catalog.commit_retries_max'],
          endLater: (open) => endLater(active, open),
        });
      }),
    rollBack: () => transactions.rollBack(session),
    isInside: () => findTransaction(services, request) !== undefined,
    mayWrite: (byDefault) => findTransaction(services, request)?.mayWrite ?? byDefault,
    setMode: (mode) => transactions.require(session).setMode(mode),
    savepoint: (name) => transactions.require(session).savepoint(name, mark()),
    release: (name) => transactions.require(session).release(name),
    rollBackTo: async (name) => {
      const transaction = transactions.require(session);
      const { state, cursors: opened } = await transaction.rollBackTo(name);
      cursors.wentBack(transaction, opened);
      if (state !== null) store.update(session, (now) => ({ ...state, prepared: now.prepared }));
    },
  };
}
