// long file: one table of all settings, so that each is declared, described and checked in one place
import { availableParallelism } from 'node:os';
import { machineMemory, WORKER_MEMORY_MIN } from './machine-memory.ts';
import { COORDINATOR_SETTINGS } from './coordinator-settings.ts';
import {
  address,
  autoBytes,
  bytes,
  choice,
  decimal,
  duration,
  integer,
  list,
  port,
  profiles,
  secret,
  string,
  waits,
  type Key,
} from './setting-kinds.ts';

const OBJECT_RANGES =
  'on: only the columns and row groups of an object that a task reads are fetched, into a file with holes; off: whole objects; poisoned: as on, with garbage in the holes, for tests';
const MIB = 2 ** 20;
const GIB = 2 ** 30;

/**
 * The one configuration schema: every limit, port, duration and secret of every service, with its default and its meaning.
 * Precedence: defaults < `skein.yaml` < `SKEIN_*` environment < flags (`load-config.ts`). A key `worker.memory_limit` is
 * `worker: { memory_limit: ... }` in YAML and `SKEIN_WORKER_MEMORY_LIMIT` in the environment.
 */
export const CONFIG = {
  data_dir: string('.skein', 'Folder of everything that one machine’s cluster keeps'),
  host: string('127.0.0.1', 'Address that public ports bind to'),
  internal_host: string('127.0.0.1', 'Address that internal ports bind to'),
  log_level: string('info', 'trace, debug, info, warn, error or silent'),

  'cluster.secret': secret('Shared secret of the services; every internal call carries it'),
  'cluster.secret_file': string(
    '',
    'File of that secret instead, a line each: the first is used, all are accepted; it is read again when it changes',
  ),
  'cluster.secrets_key_file': string(
    '',
    'File of the keys that encrypt stored secrets, a line each: the first encrypts, all decrypt; empty = made in the data directory',
  ),
  'cluster.tls_ca': string('', 'PEM file of the authorities whose certificates internal channels trust'),
  'cluster.tls_cert': string('', 'PEM file of this service’s certificate (skein cluster ca); needed beyond loopback'),
  'cluster.tls_key': string('', 'PEM file of its private key'),
  'cluster.sign_in_timeout': duration(
    10_000,
    'Time in which a connection of any port has to make its first call that is authorised, or ends',
  ),
  'cluster.sign_in_connections_max': integer(
    1_000,
    1,
    100_000,
    'Connections of a port that have not signed in; beyond that the oldest of the address that has the most ends',
  ),
  'cluster.sign_in_connections_per_address_max': integer(
    500,
    1,
    100_000,
    'Those of one address (IPv6: a /64); beyond that the oldest of them ends',
  ),
  'cluster.reload_interval': duration(2_000, 'Interval at which files of secrets and certificates are read again'),
  'cluster.etcd_endpoints': list(
    'etcd endpoints for membership (also ETCD_ENDPOINTS); empty = the static list of workers',
  ),
  'cluster.etcd_tls_ca': string('', 'PEM file of etcd’s authority; empty = cluster.tls_ca'),
  'cluster.etcd_tls_cert': string('', 'PEM file of the certificate for etcd; empty = cluster.tls_cert'),
  'cluster.etcd_tls_key': string('', 'PEM file of its private key; empty = cluster.tls_key'),
  'cluster.etcd_prefix': string('/skein/', 'Key prefix in etcd'),
  'cluster.lease_ttl': duration(5_000, 'Time to live of a membership lease'),
  'cluster.heartbeat_interval': duration(1_000, 'Interval of the heartbeats between coordinator and workers'),
  'cluster.heartbeat_timeout': duration(4_500, 'Silence after which a peer counts as dead'),
  'cluster.workers': list('URLs of the workers when there is no etcd'),
  'cluster.advertise_host': string('', 'Host under which other services reach this one; empty = the bound address'),

  'snapshot.bookmark_keys': {
    ...list(
      'Keys in the summary of snapshots by which sinks find how far they have come; the newest snapshot of each outlives expiry. prefix* = each key is a writer’s; key/by/... = the values of other keys name it',
    ),
    default: [
      'kafka.connect.offsets.*',
      'flink.max-committed-checkpoint-id/flink.job-id/flink.operator-id',
      'spark.sql.streaming.epochId/spark.sql.streaming.queryId',
    ],
  },

  'metrics.token': secret(
    'Bearer token for /metrics of every service, which then needs one on this machine, too; empty = only from elsewhere',
  ),

  'traces.otlp_endpoint': string(
    '',
    'Collector of OpenTelemetry that gets a trace of each statement by OTLP over HTTP, such as http://127.0.0.1:4318 (also OTEL_EXPORTER_OTLP_ENDPOINT); empty = none',
  ),
  'traces.sample_ratio': decimal(
    1,
    0,
    1,
    'Share of the statements that are traced, of those whose request has no traceparent; that one decides for the others',
  ),

  'database.url': secret('Postgres URL of catalog and coordinator (also DATABASE_URL); empty = the embedded Postgres'),
  'database.pool_max': integer(10, 1, 1_000, 'Connections per service'),

  'catalog.port': port(8181, 'Iceberg REST port'),
  'catalog.internal_port': port(0, 'Port of the internal gRPC'),
  'catalog.url': string('http://127.0.0.1:8181', 'URL of the catalog as other services and clients reach it'),
  'catalog.internal_url': {
    ...list('host:port of the internal gRPC of each catalog; the first that answers is used until it no longer does'),
    default: ['127.0.0.1:8191'],
  },
  'catalog.body_bytes_max': bytes(32 * MIB, 'Largest request body of the REST catalog'),
  'catalog.request_timeout': duration(60_000, 'Time in which a client has to send its request, or is cut off'),
  'catalog.bodies_bytes_max': bytes(
    512 * MIB,
    'Memory for the large request bodies that are there at once; those of one tenant have half of it at most',
  ),
  'catalog.metadata_bytes_max': bytes(64 * MIB, 'Largest table metadata document'),
  'catalog.answers_bytes_max': bytes(512 * MIB, 'Large answers that are on their way to the clients of one tenant'),
  'catalog.commit_retries_max': integer(20, 0, 1_000, 'Attempts after a lost compare-and-swap'),
  'catalog.token_ttl': duration(3_600_000, 'Lifetime of an access token'),
  'catalog.token_ttl_max': duration(30 * 86_400_000, 'Longest lifetime that skein token may ask for'),
  'catalog.refresh_token_ttl': duration(
    7 * 86_400_000,
    'Time after a sign-in at which all that stems from it ends: refresh tokens, and tokens that were exchanged for others',
  ),
  'catalog.failed_accounts_per_address_max': integer(
    20,
    2,
    1_000_000,
    'Accounts for which sign-ins from one address fail within ten minutes, before it is refused for ten minutes',
  ),
  'catalog.browser_session': duration(
    12 * 3_600_000,
    'Time for which a person stays signed in to the pages of the catalog',
  ),
  'catalog.sign_in_redirects': list('Clients of people beside the terminal, and where codes go: <client id>=<address>'),
  'catalog.mfa_required': choice<'administrators' | 'everyone'>(
    'administrators',
    ['everyone'],
    'Users who must have a second factor; a tenant may ask for more (skein admin tenant alter --mfa everyone)',
  ),
  'catalog.outside_audiences': list(
    'Audiences that tokens of identity providers may have beside skein:TENANT, each for one tenant: <tenant>=<audience>',
  ),
  'catalog.outside_bearer': choice<'on' | 'off'>(
    'on',
    ['off'],
    'off: doors take no token of an identity provider in the place of one of ours',
  ),
  'catalog.outside_keys_stale': duration(
    86_400_000,
    'Time for which the last known keys of an identity provider are good while it does not answer',
  ),
  'catalog.scim_rate': integer(6_000, 1, 1_000_000_000, 'Requests of SCIM a minute of one identity provider'),
  'catalog.token_rate_address': integer(1_200, 1, 1_000_000_000, 'Token requests a minute from one address'),
  'catalog.token_rate_principal': integer(600, 1, 1_000_000_000, 'Token requests a minute of one client or user'),
  'catalog.public_url': string(
    '',
    'Address by which clients reach the REST catalog through a proxy, such as https://catalog.example.com; empty = the one that they use',
  ),
  'catalog.tls_cert': string('', 'PEM file of the certificate of the REST catalog and its pages; empty = no TLS'),
  'catalog.tls_key': string('', 'PEM file of its private key'),
  'catalog.trusted_proxies': list(
    'Addresses or networks (10.0.0.0/8) of proxies whose X-Forwarded-For names the client; empty = none is trusted',
  ),
  'catalog.idempotency_lifetime': duration(
    1_800_000,
    'Time for which a request can be repeated under its Idempotency-Key',
  ),
  'catalog.table_version_lifetime': duration(
    3_600_000,
    'Time for which a table’s earlier metadata is found, so that a transaction reads it as it was at its first statement',
  ),
  'catalog.credential_time': duration(3_600_000, 'Life of the temporary keys of buckets: 15 minutes to an hour'),
  'catalog.cache_lease': duration(
    2_000,
    'Time for which a coordinator relies on what it was told of a table; a commit that it does not confirm waits for its end; 0 = it always asks',
  ),
  'catalog.idempotency_keys_per_principal_max': integer(
    100_000,
    1,
    1_000_000_000,
    'Requests with an Idempotency-Key that are kept of one client or user; more are refused',
  ),
  'catalog.stage_upload_ttl': duration(
    86_400_000,
    'Time after which an upload into a stage that was not completed is deleted; a stage may have an upload_ttl of its own',
  ),
  'principal.lock_after': integer(
    5,
    1,
    1_000,
    'Wrong passwords in a row after which a user’s passwords are refused for a while',
  ),
  'principal.lock_time': duration(15 * 60_000, 'Time for which passwords are refused then'),
  'principal.archive_after': duration(30 * 86_400_000, 'Time for which a dropped user can be had back by UNDROP USER'),
  'audit.retention': duration(2_557 * 86_400_000, 'Age up to which rows of the audit log are kept (7 years)'),
  'webhook.interval': duration(10_000, 'Interval at which the catalog looks for events to bring to webhooks'),
  'webhook.attempts': integer(3, 1, 20, 'Times that an event is sent to a webhook before it has failed'),
  'webhook.backoff': waits(
    ['30s', '2m', '8m'],
    'Waits before the second attempt, the third and so on; the last one counts for all that follow',
  ),
  'webhook.keep': duration(30 * 86_400_000, 'Age up to which deliveries that have ended are kept'),
  'webhook.ca_file': string(
    '',
    'PEM file of an authority whose certificates webhooks and identity providers may show, beside the usual ones',
  ),
  'webhook.allowed_networks': list(
    'Networks (10.1.0.0/16) beside the public Internet in which webhooks and identity providers may lie',
  ),
  'catalog.background_interval': duration(5_000, 'Interval at which the catalog looks for dropped tables to purge'),
  'catalog.background_hold': duration(
    60_000,
    'Silence after which a purge of another catalog process counts as cut short',
  ),
  'catalog.job_retry_wait': duration(
    60_000,
    'Time after which a background job that failed is tried again, after a second failure ten times that; a third parks it',
  ),
  'catalog.cors_origins': list('Origins of browsers’ clients, such as https://app.example.com; * = any'),
  'catalog.client_roots': list(
    'Locations below which POST /v1/catalogs may place a catalog; empty = the default place only',
  ),
  'catalog.google_metadata_url': string(
    'http://metadata.google.internal',
    'Server that gives this machine tokens for Google Cloud Storage, for catalogs without a key of their own',
  ),
  'catalog.azure_metadata_url': string(
    'http://169.254.169.254',
    'Server that gives this machine tokens for Azure storage (managed identity), for catalogs without a key of their own',
  ),
  'catalog.storage_profiles': profiles(
    'Places in buckets, by name, for catalogs of POST /v1/catalogs: storage, and the flags of skein admin catalog create',
  ),
  'catalog.key_rotation': duration(30 * 86_400_000, 'Age at which the signing key is replaced'),
  'catalog.metrics_reports_max': integer(1_000, 1, 1_000_000, 'Metrics reports that are kept of one table'),
  'catalog.metrics_report_age_max': duration(30 * 86_400_000, 'Age up to which metrics reports are kept'),
  'catalog.manifest_cache_bytes': bytes(64 * MIB, 'Memory for manifests that scan planning reads'),
  'catalog.plan_wait': duration(10_000, 'Time after which a scan plan is answered as submitted'),
  'catalog.plan_timeout': duration(300_000, 'Longest that planning a scan may take'),
  'catalog.plan_ttl': duration(3_600_000, 'Time for which a scan plan with tasks to fetch is kept'),
  'catalog.plan_files_per_task': integer(2_000, 1, 100_000, 'Files of a scan plan in one answer'),
  'catalog.plan_files_max': integer(
    250_000,
    1,
    2_000_000,
    'Files of one scan plan; clients plan larger scans themselves',
  ),
  'catalog.plan_files_kept_max': integer(500_000, 1, 100_000_000, 'Files of all scan plans that are kept in memory'),
  'catalog.plan_bytes_max': bytes(256 * MIB, 'Largest scan plan, as it is sent'),
  'catalog.plan_bytes_kept_max': bytes(512 * MIB, 'Memory for all scan plans that are kept'),
  'catalog.plans_at_once': integer(4, 1, 1_000, 'Scans that are planned at once; others wait'),
  'catalog.plans_per_table_max': integer(100, 1, 100_000, 'Scan plans with tasks to fetch that are kept of one table'),

  'reader.threads': integer(
    4,
    2,
    64,
    'Threads of a catalog or coordinator that read large metadata and manifests; a tenant has half of them at most',
  ),
  'reader.heap_limit': bytes(512 * MIB, 'JavaScript heap of a reader thread; one that needs more is replaced'),
  'reader.file_memory': bytes(
    512 * MIB,
    'Memory of all reader threads together for the files that they read; each has its share, and a file may have half of that',
  ),
  'reader.timeout': duration(60_000, 'Longest time of a reader thread for one table; then it is replaced'),

  'bootstrap.tenant': string('default', 'Tenant made at first start'),
  'bootstrap.catalog': string('lake', 'Catalog made at first start'),
  'bootstrap.namespace': string('default', 'Namespace made at first start'),
  'bootstrap.warehouse': string('', 'Location of the first catalog; empty = <data_dir>/warehouse'),
  'admin.user': string('admin', 'User made at first start'),
  'admin.email': string('', 'Its email; empty = NAME@localhost'),
  'admin.password': secret('Password of the first user; empty = generated and printed once'),

  ...COORDINATOR_SETTINGS,

  'planner.processes': integer(3, 1, 64, 'Planner child processes; one tenant has all but one of them at most'),
  'planner.timeout': duration(5_000, 'Time after which a planner is killed and replaced'),
  'planner.contended_timeout': duration(
    1_000,
    'CPU time after which a planner is killed and replaced while another user waits for one',
  ),
  'planner.start_timeout': duration(
    60_000,
    'Time after which a planner that has not begun to serve is killed and replaced',
  ),
  'planner.memory_limit': bytes(1 * GIB, 'Memory at which a planner is killed and replaced'),
  'planner.idle_memory': bytes(256 * MIB, 'Memory with which a planner that has answered is replaced'),
  'planner.requests_per_process': integer(50_000, 1, 1_000_000_000, 'Requests after which a planner is replaced'),

  'worker.port': port(8090, 'Flight and control port'),
  'worker.metrics_port': port(0, 'Port of /metrics and /health'),
  'worker.task_bytes_max': bytes(64 * MIB, 'Largest task description that a worker takes'),
  'worker.name': string('worker-1', 'Name in status, logs and metrics'),
  'worker.cores': integer(availableParallelism(), 1, 1_024, 'Slots of a worker, and threads of a wide task'),
  'worker.memory_limit': bytes(
    Math.max(WORKER_MEMORY_MIN, Math.floor(machineMemory() * 0.3)),
    'Memory for all queries of one worker',
  ),
  'worker.process_headroom': bytes(
    2 * GIB,
    'Memory of the process beyond worker.memory_limit: its own, and what DuckDB does not count, such as the text that an expression makes for a chunk of rows',
  ),
  'worker.query_memory_limit': bytes(8 * GIB, 'Memory of one query on one worker, at most worker.memory_limit'),
  'worker.spill_dir': string('', 'Folder for spilled data; empty = <data_dir>/spill/<worker name>'),
  'worker.spill_limit': bytes(100 * GIB, 'Disk that one task may spill to'),
  'worker.spool_memory_limit': bytes(
    Math.floor(machineMemory() * 0.1),
    'Memory for the output of tasks and the inputs that they fetched, at most a third of worker.memory_limit; more goes to files',
  ),
  'worker.spool_disk_limit': bytes(100 * GIB, 'Disk for the output that the tasks of one query exchange, per worker'),
  'worker.exchange_compression': choice<'none' | 'lz4'>(
    'none',
    ['lz4'],
    'Compression of batches to workers on other hosts: none or lz4 (Arrow’s own, buffer by buffer)',
  ),
  'worker.exchange_timeout': duration(
    5_000,
    'Silence of a worker after which a partition that it sends counts as lost',
  ),
  'worker.task_output_buffer': bytes(16 * MIB, 'Output of one task waiting for its reader; a full one pauses the task'),
  'worker.tasks_per_slot_max': integer(64, 1, 10_000, 'Tasks that one slot runs by turns; more wait'),
  'worker.long_quanta_max': integer(
    1,
    1,
    1_000,
    'Quanta of more than a second that one principal may have at once on a worker; its other tasks wait',
  ),
  'worker.quantum_max': duration(30_000, 'Age at which a quantum is interrupted and its statement cancelled'),
  'worker.quantum_overrun': duration(
    5_000,
    'Time after its interrupt in which a quantum must end; else the worker process ends, and is started again',
  ),
  'worker.spare_slots_max': integer(
    4,
    0,
    1_024,
    'Threads that are started in place of slots with a long quantum; 0 = also no express slot for interactive queries',
  ),
  'worker.instances_idle_max': integer(16, 0, 1_000, 'DuckDB instances kept ready per slot'),
  'worker.instances_idle_memory': bytes(
    256 * MIB,
    'Memory that all idle instances of a worker may keep, footers of files above all, when nothing has used them for worker.instances_idle_time',
  ),
  'worker.instances_idle_time': duration(
    5_000,
    'Time without use after which idle instances return memory beyond worker.instances_idle_memory to the system, and a reserve thread ends',
  ),
  'worker.row_cache_memory': bytes(
    Math.floor(machineMemory() * 0.01),
    'Memory for decoded columns of row groups that small scans read again and again, divided between the slots; 0 = none. It is part of the process’s headroom, and is given back when memory is short',
  ),
  'worker.disk_cache_size': autoBytes(
    'Disk for what was fetched from buckets, and for copies without compression of data files that queries read again and again; auto = a tenth of the disk that is free, at least of the memory; 0 = none',
  ),
  'worker.disk_cache_dir': string(
    '',
    'Folder in which each worker has one of its name for these copies; empty = <data_dir>/disk-cache',
  ),
  'worker.object_ranges': choice<'on' | 'off' | 'poisoned'>('on', ['off', 'poisoned'], OBJECT_RANGES),
  'worker.disk_cache_file_min': bytes(MIB, 'Size of the smallest data file that is copied'),
  'worker.disk_cache_time': duration(3_600_000, 'Time without use after which a copy is removed'),
  'worker.drain_timeout': duration(
    600_000,
    'Time for which a worker waits for its queries to end after SIGTERM; a second signal ends the wait',
  ),
  'worker.orphan_timeout': duration(10_000, 'Silence of the coordinator after which its tasks end'),

  'up.workers': integer(2, 1, 256, 'Workers that skein up starts'),
  'up.restart_pause_max': duration(
    10_000,
    'Longest pause before a service that ended is started again; the first is 100 ms, each further one twice as long',
  ),
  'up.ready_timeout': duration(30_000, 'Time for which skein up waits until every service answers'),
  'up.tls': choice<'on' | 'off'>(
    'off',
    ['on'],
    'on: skein up makes an authority, and a certificate for the doors, in <data_dir>/tls/doors',
  ),
  'up.port_base': integer(-1, -1, 65_000, 'First of the ports of skein up; 0 = any free ports, -1 = the services’ own'),

  'client.query_url': address('', 'Query API that skein sql talks to; empty = the cluster of data_dir'),
  'client.login_file': string('', 'File of the sign-ins of skein login; empty = ~/.config/skein/login.json'),
  'client.tls_ca': string(
    '',
    'PEM file of the authority of the query API’s certificate; empty = the cluster’s, or the system’s',
  ),
  'client.tls_cert': string('', 'PEM file of the certificate that the query API asks clients for'),
  'client.tls_key': string('', 'PEM file of its private key'),
  'client.token': secret('Bearer token of skein sql; empty = one of the cluster of data_dir'),

  'load.data_file_bytes': bytes(64 * MIB, 'Target size of a data file that skein load writes'),
  'load.memory_limit': bytes(Math.min(8 * GIB, Math.floor(machineMemory() * 0.3)), 'Memory that skein load may use'),
  'load.row_group_rows': integer(122_880, 2_048, 10_000_000, 'Rows of a row group that skein load writes'),
} as const satisfies Record<string, Key<unknown>>;

export type ConfigKey = keyof typeof CONFIG;
export type Config = { readonly [K in ConfigKey]: (typeof CONFIG)[K] extends Key<infer T> ? T : never };

/** Returns all defaults, with `overrides`: for tests, and as the first layer of `load-config.ts`. */
export function defaultConfig(overrides: Partial<Config> = {}): Config {
  const defaults = Object.fromEntries(Object.entries(CONFIG).map(([key, { default: value }]) => [key, value]));
  return { ...defaults, ...overrides } as Config;
}
