import type { SessionTransactions } from '../operation/session-transactions.ts';
import { callersTables } from '../session/callers-tables.ts';
import { commitTransaction } from '../transaction/commit-transaction.ts';
import { commitManifests } from '../write/commit-manifests.ts';
import { principalOf } from '#shared/authorization/principal.ts';
import { endLater } from '../write/write-journal.ts';
import type { Transaction } from '../transaction/transaction.ts';
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
  const { config, transactions, writes: journal, tables } = services;
  const { catalog } = services.sessions;
  const { signal, recordId } = active;
  const { caller } = request;
  const { tenant } = caller.claims;
  const session = request.transaction ?? request.session;
  return {
    begin: (mode) => transactions.begin(session, mode),
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
    savepoint: (name) => transactions.require(session).savepoint(name),
    release: (name) => transactions.require(session).release(name),
    rollBackTo: (name) => transactions.require(session).rollBackTo(name),
  };
}
