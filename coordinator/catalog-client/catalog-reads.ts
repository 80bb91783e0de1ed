import { setTimeout as sleep } from 'node:timers/promises';
import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import { SkeinError } from '#shared/error.ts';
import type { CallStream } from '#shared/grpc/call-stream.ts';

export type CatalogReads = Pick<CallStream<CatalogInternalClient>, 'call'>;

/** Reads over a stream: one whose catalog is lost is asked again. */
export const catalogReads = (stream: CatalogReads): CatalogReads => ({
  call: (name, request, settings) => askedAgain(() => stream.call(name, request, settings), settings?.signal),
});

/** Time for a connection to another catalog, before it is asked. */
const NEXT_MS = 200;

/** Asks once more when the catalog is lost, or has no Postgres: there may be another one. Only for what may be asked twice. */
export async function askedAgain<T>(ask: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const isLost = error instanceof SkeinError && error.code === 'CATALOG_UNAVAILABLE';
    if (!isLost || signal?.aborted === true) throw error;
    await sleep(NEXT_MS);
    return ask();
  }
}
