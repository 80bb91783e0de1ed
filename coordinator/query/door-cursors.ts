import type { CursorOwner } from '../cursor/cursors.ts';
import type { DoorCursors } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** The name of a portal stands in no statement. */
const named = (name: string) => ({ name, position: 0 });

/** The cursors of a session that a token may read, for a door whose protocol has portals. */
export const doorCursors = (
  { cursors, transactions }: Pick<RunnerServices, 'cursors' | 'transactions'>,
  owner: CursorOwner,
): DoorCursors => ({
  find: (name) => cursors.find(owner, name),
  open: (name, sql) =>
    cursors.open(owner, {
      ...named(name),
      sql,
      canScroll: false,
      isHeld: false,
      transaction: transactions.find(owner.session) ?? null,
    }),
  fetch: async (name, rows, { sink, signal }) => {
    const { count, into } = cursors.fetch(owner, named(name), { kind: 'forward', count: rows });
    await into(sink, signal);
    return count;
  },
  close: (name) => cursors.closeIfOpen(owner, name),
});
