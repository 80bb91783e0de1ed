import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { FileIo } from '#shared/storage/file-io.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import type { KeyedQueue } from './commit/keyed-queue.ts';
import type { ScanPlanner } from './planning/scan-planner.ts';
import type { Metrics } from './rest/metrics.ts';
import type { RateLimit } from './rest/rate-limit.ts';
import type { Store } from './store/postgres/connect.ts';
import type { SessionEpochs } from './principal/session-epochs.ts';
import type { SigningKeys } from './token/signing-keys.ts';
import type { TokenIssuer } from './token/token-issuer.ts';
import type { TokenVerifier } from './token/token-verifier.ts';

/** Places in a change, in the order in which it comes by them. */
export type CrashPoint = 'files-written' | 'before-commit' | 'committed' | 'before-reply';

/** What `main.ts` builds and every operation gets. */
export type CatalogContext = {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly store: Store;
  readonly io: FileIo;
  /** Threads that read what clients wrote: large metadata, manifests. */
  readonly readers: WorkPool;
  /** Orders the commits to one table within this process, so that they rarely lose a compare-and-swap. */
  readonly commits: KeyedQueue;
  readonly keys: SigningKeys;
  readonly issuer: TokenIssuer;
  readonly verifier: TokenVerifier;
  readonly epochs: SessionEpochs;
  /** Requests at the token endpoint, by address of the peer and by principal. */
  readonly tokenLimits: { readonly address: RateLimit; readonly principal: RateLimit };
  readonly metrics: Metrics;
  readonly planner: ScanPlanner;
  /** The background work; `wake` says that something may be due now. */
  readonly purges: { wake(): void };
  /** Called at points of a change where a crash tells much; tests end the process there. */
  readonly at: (point: CrashPoint) => void;
  /** What `GET /v1/config` advertises: all that is served of the Iceberg specification. */
  readonly endpoints: readonly string[];
};
