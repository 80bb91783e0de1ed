import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { WITHOUT_ANSWER } from '#shared/iceberg/write/commit-writes.ts';
import type { Json } from '#shared/json.ts';
import { retried, spreadPause } from '#shared/retry.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import type { CatalogClient, CatalogOperation } from './catalog-client.ts';

/** Time for which a statement waits for the catalog to say how its change ended. */
export const SETTLE_MS = 10_000;
/** Time that a rename may take: the files of up to 1,000 views are written for it. */
export const RENAME_TIMEOUT_MS = 120_000;
/** Pause before the catalog is asked again; a random part of up to 20 times of it is added. */
const RETRY_PAUSE_MS = 50;

type ChangeContext = {
  readonly catalog: CatalogClient;
  readonly caller: { readonly claims: Principal };
  /** From now on the statement is not stopped. @throws the reason of a stop that came before */
  readonly beginCommit: () => void;
};

/**
 * Makes a change through an operation of the catalog. A change whose answer is lost is sent again under its key, which makes it the same
 * change. @returns the operation's answer
 * @throws the operation's errors, COMMIT_STATE_UNKNOWN when the catalog did not say in time how the change ended
 */
export async function changeCatalog(
  { catalog, caller, beginCommit }: ChangeContext,
  operation: CatalogOperation,
): Promise<Json> {
  beginCommit();
  const key = newUuidV7(Date.now());
  // A change that may take long is asked for again from when its first answer was lost.
  let endMs = operation.timeoutMs === undefined ? performance.now() + SETTLE_MS : undefined;
  const isUnanswered = (error: unknown): boolean => WITHOUT_ANSWER.has(SkeinError.of(error).code);
  try {
    return await retried(() => catalog.runOperation(caller.claims, key, operation), {
      again: (error) => isUnanswered(error) && performance.now() < (endMs ??= performance.now() + SETTLE_MS),
      pauseMs: () => spreadPause(RETRY_PAUSE_MS),
    });
  } catch (error) {
    if (!isUnanswered(error)) throw SkeinError.of(error);
    const message = `the catalog did not say whether it made the change ${key}`;
    throw new SkeinError('COMMIT_STATE_UNKNOWN', message, { cause: error });
  }
}
