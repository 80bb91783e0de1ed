import type { SessionKey } from '../session/session-store.ts';
import type { DoorCursors } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** The name of a portal stands in no statement. */
const named = (name: string) => ({ name, position: 0 });

/** The cursors of a session, for a door whose protocol has portals. */
export const doorCursors = (
  { cursors, transactions }: Pick<RunnerServices, 'cursors' | 'transactions'>,
  session: SessionKey,
): DoorCursors => ({
  find: (name) => cursors.find(session, name),
  open: (name, sql) =>
    cursors.open(session, {
      ...named(name),
      sql,
      canScroll: false,
      isHeld: false,
      transaction: transactions.find(session) ?? null,
    }),
  fetch: async (name, rows, { sink, signal }) => {
    const { count, into } = cursors.fetch(session, named(name), { kind: 'forward', count: rows });
    await into(sink, signal);
    return count;
  },
  close: (name) => cursors.closeIfOpen(session, name),
});
