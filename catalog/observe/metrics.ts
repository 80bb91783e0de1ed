import { exportMemoryUses } from '#shared/memory-uses.ts';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { measureTurns } from '#shared/turn-metrics.ts';

/** The metrics that `/metrics` exports. */
export type Metrics = Disposable & {
  readonly registry: Registry;
  readonly requestSeconds: Histogram<'operation' | 'status'>;
  readonly commitRetries: Counter;
  readonly leaseWaitSeconds: Histogram;
  readonly purgedFiles: Counter;
  readonly purgeFailures: Counter;
  /** `outcome`: granted, refused (wrong), throttled (refused unhashed), busy (refused because too many wait). */
  readonly signIns: Counter<'method' | 'outcome'>;
  /** `outcome`: delivered, retrying, failed. */
  readonly webhookCalls: Counter<'outcome'>;
};

/** @param parkedPurges asked whenever the metrics are read */
export function createMetrics(parkedPurges: () => Promise<number>): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const turns = measureTurns(registry);
  exportMemoryUses(registry);
  registerParkedJobs(registry, parkedPurges);
  return {
    registry,
    [Symbol.dispose]: () => turns[Symbol.dispose](),
    requestSeconds: new Histogram({
      name: 'skein_catalog_request_seconds',
      help: 'Duration of REST requests',
      labelNames: ['operation', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers: [registry],
    }),
    commitRetries: new Counter({
      name: 'skein_catalog_commit_retries_total',
      help: 'Commits applied anew after they lost a compare-and-swap',
      registers: [registry],
    }),
    leaseWaitSeconds: new Histogram({
      name: 'skein_catalog_lease_wait_seconds',
      help: 'Time that a change waits until coordinators have seen it',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10],
      registers: [registry],
    }),
    purgedFiles: new Counter({
      name: 'skein_catalog_purged_files_total',
      help: 'Files of dropped tables that were deleted',
      registers: [registry],
    }),
    purgeFailures: new Counter({
      name: 'skein_catalog_purge_failures_total',
      help: 'Attempts to purge a table that failed',
      registers: [registry],
    }),
    signIns: new Counter({
      name: 'skein_catalog_sign_ins_total',
      help: 'Sign-ins by method (password, client) and outcome (granted, refused, throttled, busy)',
      labelNames: ['method', 'outcome'],
      registers: [registry],
    }),
    webhookCalls: new Counter({
      name: 'skein_catalog_webhook_calls_total',
      help: 'Calls of webhooks by what became of the delivery (delivered, retrying, failed)',
      labelNames: ['outcome'],
      registers: [registry],
    }),
  };
}

function registerParkedJobs(registry: Registry, parkedPurges: () => Promise<number>): void {
  const gauge = new Gauge({
    name: 'skein_catalog_jobs_parked',
    help: 'Background jobs that failed too often and wait for an operator (skein admin job list)',
    labelNames: ['job'],
    registers: [registry],
    async collect() {
      try {
        gauge.set({ job: 'purge' }, await parkedPurges());
      } catch {
        // Without Postgres the number of parked jobs is unknown; the other metrics are still exported.
        gauge.remove({ job: 'purge' });
      }
    },
  });
}
