import { SkeinError } from '#shared/error.ts';
import type { SessionCursors } from '../operation/cursors.ts';
import type { Queries } from '../operation/queries.ts';
import { HeldSink } from '../sink/held-sink.ts';
import { requireUnordered } from './arrange-result.ts';
import type { RunningRequest } from './query-service.ts';
import type { RunningStatement } from './running-statement.ts';
import { findTransaction } from './session-transactions.ts';
import { heldOptions } from './sink-options.ts';

/** The cursors of a statement's session. @param queriesOf makes the queries of a statement whose one query may read by leases */
export function sessionCursors(
  running: RunningStatement,
  queriesOf: (running: RunningStatement) => Queries,
): SessionCursors {
  const { services, request, active } = running;
  const { cursors } = services;
  const { session, sink } = request;
  const { signal } = active;
  const owner = { session, keeper: request.caller.claims };
  return {
    async declare({ query, ...cursor }) {
      if (session.kind !== 'named') {
        throw new SkeinError('NOT_SUPPORTED', 'cursors need a session: send the header X-Skein-Session');
      }
      const transaction = findTransaction(services, request) ?? null;
      if (transaction === null && !cursor.isHeld) {
        throw new SkeinError('NO_TRANSACTION', 'a cursor without WITH HOLD is declared in a transaction: send BEGIN');
      }
      const result = cursors.open(owner, { ...cursor, sql: query.text, transaction });
      try {
        using held = new HeldSink(result, heldOptions(services));
        const own: RunningStatement = { ...running, request: { ...whole(request), sink: held } };
        const { bytesScanned, fragments, rowsProduced } = await queriesOf(own).run(query);
        signal.throwIfAborted();
        if (result.rows !== rowsProduced) throw new Error('invariant: a cursor has as many rows as its query gave');
        result.finish({ rowCount: rowsProduced, elapsedMs: active.elapsedMs() });
        return { bytesScanned, fragments };
      } catch (error) {
        cursors.close(owner, cursor);
        throw error;
      }
    },
    columns: (cursor) => cursors.shape(owner, cursor).columns,
    async fetch(cursor, move) {
      requireUnordered(request);
      const { shape, count, into } = cursors.fetch(owner, cursor, move);
      sink.planned({ ...shape, tag: 'FETCH' });
      sink.start();
      await into(sink, signal);
      return { rowsProduced: count, bytesScanned: 0, fragments: 0 };
    },
    move: (cursor, move) => cursors.move(owner, cursor, move),
    close(cursor) {
      if (cursor === null) cursors.closeAll(owner);
      else cursors.close(owner, cursor);
    },
  };
}

/** The request without what it asks of the answer: a cursor has all rows of its query, as that gives them. */
function whole({ rowLimit: _limit, orderBy: _order, ...request }: RunningRequest): RunningRequest {
  return request;
}
