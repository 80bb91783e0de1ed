import { setTimeout as sleep } from 'node:timers/promises';
import { CLIENTS, type Kind, type MixedQueries } from './mixed-queries.ts';

/** A query that was answered. */
export type Answered = { readonly kind: Kind; readonly atMs: number; readonly elapsedMs: number };

/** Asks a query; its promise ends with the answer. */
export type Ask = (kind: Kind, sql: string) => Promise<void>;

/**
 * Runs the clients of some kinds for a time; each ends with the answer that it waits for. Times are in ms since the begin.
 * @throws the first error of a query
 */
export async function runClients(
  kinds: readonly Kind[],
  { seconds, queries, ask }: { readonly seconds: number; readonly queries: MixedQueries; readonly ask: Ask },
): Promise<readonly Answered[]> {
  const startMs = performance.now();
  const endMs = startMs + seconds * 1_000;
  const answered: Answered[] = [];
  const client = async (kind: Kind, id: number): Promise<void> => {
    const { clients, pauseMs } = CLIENTS[kind];
    // They do not come all at once.
    await sleep((pauseMs * id) / clients);
    for (let count = 0; performance.now() < endMs; count++) {
      const askedMs = performance.now();
      await ask(kind, queries(kind, id, count));
      const now = performance.now();
      answered.push({ kind, atMs: now - startMs, elapsedMs: now - askedMs });
      if (now + pauseMs < endMs) await sleep(pauseMs);
      else return;
    }
  };
  await Promise.all(
    kinds.flatMap((kind) => Array.from({ length: CLIENTS[kind].clients }, (_, id) => client(kind, id))),
  );
  return answered;
}
