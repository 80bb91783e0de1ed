import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import type { KeyedQueue } from './commit/keyed-queue.ts';
import type { Metrics } from './rest/metrics.ts';
import type { Store } from './store/postgres/connect.ts';
import type { SessionEpochs } from './principal/session-epochs.ts';
import type { SigningKeys } from './token/signing-keys.ts';
import type { TokenIssuer } from './token/token-issuer.ts';
import type { TokenVerifier } from './token/token-verifier.ts';

/** What `main.ts` builds and every operation gets. */
export type CatalogContext = {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly io: FileIo;
  /** Orders the commits to one table within this process, so that they rarely lose a compare-and-swap. */
  readonly commits: KeyedQueue;
  readonly keys: SigningKeys;
  readonly issuer: TokenIssuer;
  readonly verifier: TokenVerifier;
  readonly epochs: SessionEpochs;
  readonly metrics: Metrics;
  /** What `GET /v1/config` advertises: all that is served of the Iceberg specification. */
  readonly endpoints: readonly string[];
};
