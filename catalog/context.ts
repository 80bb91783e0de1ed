import type { Clock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import type { ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import type { TokenVerifier } from '#shared/token-verifier.ts';
import type { WorkPool } from '#shared/thread/work-pool.ts';
import type { KeyedQueue } from './metadata/keyed-queue.ts';
import type { LargeDocuments } from './metadata/large-documents.ts';
import type { ScanPlanner } from './planning/scan-planner.ts';
import type { CacheLeases } from './lease/cache-leases.ts';
import type { DelegationLog } from './delegation/delegation-log.ts';
import type { KeyAllowance } from './idempotency/key-allowance.ts';
import type { Metrics } from './observe/metrics.ts';
import type { Newcomers } from '#shared/newcomers/newcomers.ts';
import type { RateLimit } from './token/rate-limit.ts';
import type { NamedProfiles } from './storage/named-profiles.ts';
import type { Storages } from './storage/storages.ts';
import type { Store } from './store/postgres/connect.ts';
import type { Issuers } from './issuer/issuers.ts';
import type { EndedSignIns } from './principal/ended-sign-ins.ts';
import type { KnownPrincipals } from './principal/known-principals.ts';
import type { Bearers } from './principal/bearers.ts';
import type { PasswordVerifier } from './principal/verify-password.ts';
import type { SignInLog } from './principal/sign-in-log.ts';
import type { SessionEpochs } from './principal/session-epochs.ts';
import type { SigningKeys } from './token/signing-keys.ts';
import type { TokenIssuer } from './token/token-issuer.ts';

/** Points of a change at which a test can crash the process, in the order in which a change passes them. */
export type CrashPoint = 'files-written' | 'before-commit' | 'committed' | 'before-reply';

/** The services and settings of one catalog process: `main.ts` builds them, every operation receives them. */
export type CatalogContext = {
  readonly config: Config;
  readonly log: Logger;
  readonly clock: Clock;
  readonly security: ChannelSecurity;
  readonly store: Store;
  /** Opens the storage of catalogs, and gives keys for them. */
  readonly storages: Storages;
  /** The places in buckets that clients choose by name. */
  readonly profiles: NamedProfiles;
  /** The record of keys and signatures that other engines were given. */
  readonly delegationLog: DelegationLog;
  /** Encrypts stored secrets. */
  readonly sealing: SealingKeys;
  /** Worker threads that read files which clients wrote: large metadata, manifests. */
  readonly readers: WorkPool;
  /** Runs the commits to one table one after the other within this process, so that they rarely lose a compare-and-swap. */
  readonly commits: KeyedQueue;
  /** Turns of the requests that work on large metadata documents. */
  readonly documents: LargeDocuments;
  readonly keys: SigningKeys;
  readonly issuer: TokenIssuer;
  readonly verifier: TokenVerifier;
  /** Verifies what clients of the REST door show: access tokens, and personal ones. */
  readonly bearers: Bearers;
  readonly epochs: SessionEpochs;
  /** Sign-ins of people that have ended before their tokens. */
  readonly endedSignIns: EndedSignIns;
  /** Leases of coordinators on the answers of LoadTables: every change waits until they know of it. */
  readonly leases: CacheLeases;
  /** Checks the principals of internal calls. */
  readonly principals: KnownPrincipals;
  /** Connections of the REST service that have not signed in. */
  readonly newcomers: Newcomers;
  /** Hashes and verifies every password. */
  readonly passwords: PasswordVerifier;
  /** The rows of the audit log about sign-ins. */
  readonly signIns: SignInLog;
  /** Issuers of tokens that tenants trust. */
  readonly issuers: Issuers;
  /** Rate limits of the token endpoint, by the peer's address and by principal. */
  readonly tokenLimits: { readonly address: RateLimit; readonly principal: RateLimit };
  /** Limits the requests of SCIM of each identity provider. */
  readonly scimLimit: RateLimit;
  /** Limits the idempotency keys that each principal has in use. */
  readonly keyAllowance: KeyAllowance;
  readonly metrics: Metrics;
  readonly planner: ScanPlanner;
  /** The background work; `wake` says that something may be due now. */
  readonly sweeper: { wake(): void };
  /** Called at the `CrashPoint`s of a change; tests end the process there. */
  readonly at: (point: CrashPoint) => void;
  /** The endpoints that `GET /v1/config` advertises: all of the Iceberg specification that the catalog serves. */
  readonly endpoints: readonly string[];
};
