/** Suites that `npm test` leaves to `.ci/run` (`npm run test:ci`), so that it ends within eight minutes on two cores. */

/** Other people's clients judge the catalog; virtual machines of Java and Python make these suites dear. */
export const CLIENT_SUITES: readonly string[] = ['test/clients/**/*.test.ts', 'test/conformance/rest-kit.test.ts'];

/** A warehouse in a bucket: of a real S3 server, which is built from its source at first, and of emulators of Google's and Azure's stores. */
export const BUCKET_SUITES: readonly string[] = [
  'shared/storage/{s3,object}/*.system.test.ts',
  'test/bucket/*.test.ts',
  'test/stores/*.test.ts',
];

/** Suites that `npm run test:bucket` runs once more, with their tables in a bucket: the corpus, TPC-H, writes, stages. */
export const OVER_BUCKET_SUITES: readonly string[] = [
  'test/slt/slt.test.ts',
  'test/slt/slt-writes.test.ts',
  'test/tpch/tpch.test.ts',
  ...[
    'change-kills.full',
    'copy-formats',
    'copy-into',
    'copy-parts',
    'copy-round-trip',
    'dml',
    'dml-random',
    'explain-writes',
    'refresh-kills.full',
    'stage-borders',
    'stage-kills',
    'stage-paths',
    'stage-queries',
    'stage-splits',
    'transactions',
    'transactions-random',
    'write-kills.full',
    'write-together',
    'writes',
  ].map((name) => `test/cluster/${name}.test.ts`),
];

/** As large as a laptop's data, or on more workers than the laptop has cores. */
export const SCALE_SUITES: readonly string[] = ['test/tpcds/tpcds.test.ts'];

/**
 * Every cell of a matrix, every point of a kill, every order of messages, every earlier release; members that come and go; memory and disks
 * that are full.
 */
export const EXHAUSTIVE_SUITES: readonly string[] = [
  'catalog/page/factors.system.test.ts',
  'catalog/page/pages.system.test.ts',
  'catalog/page/sign-in-kills.system.test.ts',
  'catalog/principal/many-attempts.system.test.ts',
  'catalog/principal-statement/lesser-credentials.system.test.ts',
  'catalog/principal-statement/properties.system.test.ts',
  'cli/admin-client.system.test.ts',
  'cli/admin-secrets.system.test.ts',
  'cli/commands.system.test.ts',
  'cli/sql/sql.system.test.ts',
  'cli/supervise-worker.system.test.ts',
  'cli/up/tls.system.test.ts',
  'cli/up/up.system.test.ts',
  'console/src/admin/rights.system.test.ts',
  'console/src/statement/made-statements.system.test.ts',
  'coordinator/workload.system.test.ts',
  'test/cluster/copy-round-trip.test.ts',
  'test/cluster/information-schema-model.test.ts',
  'test/cluster/memory.test.ts',
  'test/cluster/package.test.ts',
  'test/cluster/planted-secrets.test.ts',
  'test/cluster/policy-barrier.test.ts',
  'test/cluster/policy-leases.test.ts',
  'test/cluster/policy-random.test.ts',
  'test/cluster/policy-views.test.ts',
  'test/cluster/policy-workers.test.ts',
  'test/cluster/principal-matrix.test.ts',
  'test/cluster/statement-scopes.test.ts',
  'test/cluster/traces.test.ts',
  'test/cluster/transaction-limits.test.ts',
  'test/cluster/worker-loss.test.ts',
  'test/cluster/workload.test.ts',
  'test/conformance/role-scopes.test.ts',
  'test/conformance/scope-matrix.test.ts',
  'test/simulation/lead.test.ts',
  'test/slt/flight.test.ts',
  'test/slt/postgres.test.ts',
  'test/slt/slt-writes.test.ts',
  'test/upgrade/upgrade.test.ts',
  'worker/process-limit.system.test.ts',
];

/**
 * Long suites of rooms that stand: parts of `.ci/run --full` run them (`npm run test:deep`), so that `.ci/run` ends in time on a machine of a third
 * of the speed. A requirement that one of them proves has another proof, which `.ci/run` checks.
 */
export const DEEP_SUITES: readonly string[] = [
  'catalog/internal/commit-interleavings.system.test.ts',
  'catalog/principal-statement/model.system.test.ts',
  'catalog/rest/crashes.system.test.ts',
  'catalog/rest/unknown-commit.system.test.ts',
  'catalog/token/key-rotation.system.test.ts',
  'cli/admin-principals.system.test.ts',
  'cli/load/load-failures.system.test.ts',
  'cli/load/load-parquet.system.test.ts',
  'cli/load/load-tpch.system.test.ts',
  'coordinator/history/silent-postgres.system.test.ts',
  'shared/membership/etcd-membership.system.test.ts',
  'shared/storage/object/object-faults.system.test.ts',
  'shared/storage/s3/s3-faults.system.test.ts',
  'test/attack/parked-jobs.test.ts',
  'test/attack/silent-connections.test.ts',
  'test/bucket/cache.test.ts',
  'test/bucket/cached-faults.test.ts',
  'test/bucket/faults.test.ts',
  'test/bucket/holes.test.ts',
  'test/bucket/java-and-botocore.test.ts',
  'test/bucket/ranges.test.ts',
  'test/bucket/rest-kit.test.ts',
  'test/bucket/slow-renames.test.ts',
  'test/bucket/stage-faults.test.ts',
  'test/bucket/stage-urls.test.ts',
  'test/clients/console-kills.test.ts',
  'test/clients/console-standby.test.ts',
  'test/clients/flight-tls.test.ts',
  'test/clients/iceberg-tables.test.ts',
  'test/clients/postgres-spellings.test.ts',
  'test/clients/scan-planning.test.ts',
  'test/clients/theta-sketches.test.ts',
  'test/cluster/adaptive.test.ts',
  'test/cluster/arrow-results.test.ts',
  'test/cluster/between-machines.test.ts',
  'test/cluster/copy-formats.test.ts',
  'test/cluster/copy-into.test.ts',
  'test/cluster/copy-parts.test.ts',
  'test/cluster/cut-workers.test.ts',
  'test/cluster/disk-cache.test.ts',
  'test/cluster/disk-full.test.ts',
  'test/cluster/distributed-on-three.test.ts',
  'test/cluster/distributed.test.ts',
  'test/cluster/dml-random.test.ts',
  'test/cluster/dml.test.ts',
  'test/cluster/etcd.test.ts',
  'test/cluster/explain-writes.test.ts',
  'test/cluster/fresh-reads.test.ts',
  'test/cluster/postgres-kills.test.ts',
  'test/cluster/refresh-random.test.ts',
  'test/cluster/silent-hosts.test.ts',
  'test/cluster/slow-readers.test.ts',
  'test/cluster/stage-borders.test.ts',
  'test/cluster/stage-kills.test.ts',
  'test/cluster/stage-paths.test.ts',
  'test/cluster/stage-splits.test.ts',
  'test/cluster/standby.test.ts',
  'test/cluster/transactions-model.test.ts',
  'test/cluster/transactions-random.test.ts',
  'test/cluster/transactions.test.ts',
  'test/cluster/unload-kills.test.ts',
  'test/cluster/unload.test.ts',
  'test/cluster/worker-memory.test.ts',
  'test/cluster/worker-processes.test.ts',
  'test/cluster/write-recovery.test.ts',
  'test/cluster/write-together.test.ts',
  'test/fuzz/decoders.test.ts',
  'test/fuzz/gate/gate.test.ts',
  'test/fuzz/statements/statements.test.ts',
  'test/oracle/oracle.test.ts',
  'test/plan/aggregates.test.ts',
  'test/plan/law.system.test.ts',
  'test/plan/result-names.test.ts',
  'test/plan/shapes.system.test.ts',
  'test/simulation/leases.test.ts',
  'test/simulation/workload-all.test.ts',
  'test/slt/duckdb-reports.test.ts',
  'test/slt/fragments.test.ts',
  'test/tpcds/fragments.test.ts',
  'test/tpch/fragments.test.ts',
  'test/tpch/tpch-scale-1.test.ts',
  'test/upgrade/newer.test.ts',
  'worker/exchange.system.test.ts',
  'worker/slot/slot-pool.test.ts',
  'worker/staged/record-starts.test.ts',
];

/** Attacks of one kind each, alone, for as long as it takes to see who waits. */
export const SIEGE_SUITES: readonly string[] = [
  'catalog/webhook/webhook-watchers.timed.test.ts',
  'shared/thread/idle-memory.timed.test.ts',
  'test/attack/error-texts.timed.test.ts',
  'test/attack/hostile-files.timed.test.ts',
  'test/attack/hostile-manifests.timed.test.ts',
  'test/attack/postgres-abuse.timed.test.ts',
  'test/attack/request-bodies.timed.test.ts',
];

/** The long ones: `.ci/run --full sieges`. */
export const LONG_SIEGE_SUITES: readonly string[] = [
  'catalog/issuer/unknown-keys.timed.test.ts',
  'catalog/principal/hashes.timed.test.ts',
  'catalog/principal/refusal-times.timed.test.ts',
  'coordinator/planner/planner-pool.timed.test.ts',
  'test/attack/hung-workers.timed.test.ts',
  'test/attack/leaving-clients.timed.test.ts',
  'test/attack/long-quanta.timed.test.ts',
  'test/attack/stuck-statements.timed.test.ts',
  'test/chaos/chaos.timed.test.ts',
  'test/cluster/cancel.timed.test.ts',
  'test/cluster/stage-faults.timed.test.ts',
  'test/cluster/streaming.timed.test.ts',
  'worker/slot/wide-task.timed.test.ts',
];

export const CI_SUITES: readonly string[] = [
  ...CLIENT_SUITES,
  ...BUCKET_SUITES,
  ...SCALE_SUITES,
  ...EXHAUSTIVE_SUITES,
  ...SIEGE_SUITES,
];

/** Only parts of `.ci/run --full` run these. */
export const FULL_SUITES: readonly string[] = [...DEEP_SUITES, ...LONG_SIEGE_SUITES];
