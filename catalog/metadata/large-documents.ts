import { SharedPlaces } from '#shared/thread/shared-places.ts';

/** Size from which on a metadata document is large. The main thread takes less than 5 ms for one that is smaller. */
export const LARGE_DOCUMENT_BYTES = 2 ** 20;
/** Maximum number of requests that have a large document in memory at once; half of them may be of one tenant. */
const LARGE_AT_ONCE = 2;
const WAITING_MAX = 1_000;

/**
 * Lets requests that work on large documents take turns. The main thread receives a document from Postgres, hands it to a worker thread
 * and sends it to Postgres and to the client: for 64 MB each of these steps takes some tens of milliseconds, and a few of them that fall
 * together would keep everybody else waiting for a second. Requests that wait for their turn hold no document.
 *
 * A turn lasts until the answer is ready. Turns must not nest, nor be waited for inside a transaction: those who have one need connections.
 */
export class LargeDocuments {
  readonly #places = new SharedPlaces(LARGE_AT_ONCE, WAITING_MAX);

  /** Runs work on documents of so many bytes of one tenant. @throws QUEUE_FULL */
  async run<T>(tenant: string, bytes: number, work: () => Promise<T>): Promise<T> {
    if (bytes <= LARGE_DOCUMENT_BYTES) return work();
    const leave = await this.#places.take(tenant, undefined);
    try {
      return await work();
    } finally {
      leave();
    }
  }
}
