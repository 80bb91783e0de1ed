/** The settings of the coordinator; `config-schema.ts` has those of all services. */

import { bytes, choice, duration, integer, port, rate, sizes, string, type Key, list } from './setting-kinds.ts';
const MIB = 2 ** 20;
const GIB = 2 ** 30;

export const COORDINATOR_SETTINGS = {
  'coordinator.trusted_proxies': list('Proxies before the query API and Flight SQL, as catalog.trusted_proxies'),
  'coordinator.tls_cert': string('', 'PEM file of the certificate that every door for clients shows; empty = no TLS'),
  'coordinator.tls_key': string('', 'PEM file of its private key'),
  'coordinator.tls_client_ca': string('', 'PEM file of authorities: clients need a certificate of theirs, too'),
  'coordinator.plaintext_beyond_loopback': choice<'on' | 'off'>(
    'off',
    ['on'],
    'on: without a certificate, Flight SQL listens on host, not on 127.0.0.1 alone; passwords go over the network in the clear',
  ),
  'coordinator.http_port': port(8080, 'Query HTTP port'),
  'coordinator.flight_port': port(8082, 'Flight SQL port'),
  'coordinator.postgres_port': port(5433, 'Postgres wire port'),
  'coordinator.postgres_connections_max': integer(
    2_000,
    1,
    100_000,
    'Connections of the Postgres wire at once that have signed in',
  ),
  'coordinator.postgres_connections_per_principal_max': integer(
    500,
    1,
    100_000,
    'Connections of the Postgres wire that one user has at once',
  ),
  'coordinator.postgres_idle_timeout': duration(
    0,
    'Time after which a connection of the Postgres wire ends that waits for its client outside of a transaction; 0 = never',
  ),
  'coordinator.postgres_stall_timeout': duration(
    300_000,
    'Time after which a connection of the Postgres wire ends whose client has sent a part of a message or of a COPY, and nothing since; 0 = never',
  ),
  'coordinator.internal_port': port(0, 'Port of the internal gRPC, which only a cluster with etcd has: for operators'),
  'coordinator.flight_message_bytes_max': bytes(16 * MIB, 'Longest message that a Flight SQL client may send'),
  'coordinator.flight_bound_bytes_max': bytes(
    64 * MIB,
    'Rows that a Flight SQL client may bind to the parameters of a statement at once',
  ),
  'coordinator.flight_connections_max': integer(
    1_000,
    1,
    100_000,
    'Connections of Flight SQL at once that have signed in',
  ),
  'coordinator.flight_connections_per_principal_max': integer(
    200,
    1,
    100_000,
    'Connections of Flight SQL over which one user makes calls at once',
  ),
  'coordinator.flight_idle_timeout': duration(1_800_000, 'Time after which a Flight SQL connection without calls ends'),
  'coordinator.flight_results_per_principal_max': integer(
    100,
    1,
    100_000,
    'Results of one user that wait to be read over Flight SQL at once',
  ),
  'coordinator.result_wait': duration(
    10_000,
    'Time without a byte taken after which a result waits on disk for its client, so that its statement holds no place and no slot',
  ),
  'coordinator.result_spool_bytes': bytes(
    16 * GIB,
    'Disk for the rows that wait for clients who do not read; those of one tenant have half of it at most, a result that needs more is cancelled',
  ),
  'coordinator.arrived_rows_bytes': bytes(
    64 * GIB,
    'Disk for the rows that clients send with statements, until these have ended; those of one tenant have half of it at most',
  ),
  'coordinator.result_ttl': duration(
    60_000,
    'Time for which a result can be read after its statement has ended, or its last byte was taken',
  ),
  'coordinator.kept_result_ttl': duration(
    900_000,
    'Time for which a result that a client has kept can be read after its statement has ended, or it was last asked for',
  ),
  'coordinator.kept_result_bytes_max': bytes(
    128 * MIB,
    'Largest result that is kept; a larger one is cut, and says so',
  ),
  'coordinator.kept_results_bytes': bytes(
    GIB,
    'Rows of all results that are kept, in memory and on disk; those of one tenant have half of it at most, its oldest make room',
  ),
  'coordinator.kept_results_memory': bytes(
    64 * MIB,
    'Memory for the rows of results that are kept, of which those of one tenant have half at most; the rest lies on disk',
  ),
  'coordinator.kept_results_per_principal_max': integer(
    200,
    1,
    100_000,
    'Results that are kept for one user; the oldest makes room',
  ),
  'coordinator.cursors_max': integer(1_000, 1, 100_000, 'Cursors and portals of one session'),
  'coordinator.cursors_per_principal_max': integer(
    10_000,
    1,
    1_000_000,
    'Cursors of one user, in all of their sessions at once',
  ),
  'coordinator.cursor_bytes_max': bytes(GIB, 'Largest result of a cursor; its statement fails beyond it'),
  'coordinator.cursors_bytes': bytes(
    16 * GIB,
    'Rows of all cursors, in memory and on disk; those of one tenant have half of it at most',
  ),
  'coordinator.cursors_memory': bytes(
    64 * MIB,
    'Memory for the rows of cursors, of which those of one tenant have half at most; the rest lies on disk',
  ),
  'coordinator.body_bytes_max': bytes(12 * MIB, 'Largest request body of the query API'),
  'coordinator.bodies_bytes_max': bytes(
    256 * MIB,
    'Memory for the large request bodies that are there at once; those of one tenant have half of it at most',
  ),
  'coordinator.request_timeout': duration(60_000, 'Time in which a client has to send its request, or is cut off'),
  'coordinator.url': string(
    '',
    'URL under which clients reach the coordinator, for signed URLs and the console; empty = as the request names it',
  ),
  'coordinator.console': choice<'on' | 'off'>('on', ['off'], 'off: the coordinator serves no console'),
  'coordinator.console_session_ttl': duration(
    12 * 3_600_000,
    'Longest time for which a person stays signed in to the console; the session ends with its token, too',
  ),
  'coordinator.stage_url_ttl': duration(3_600_000, 'Time for which a signed URL is good when its request names none'),
  'coordinator.stage_url_ttl_max': duration(7 * 86_400_000, 'Longest time for which a signed URL may be good'),
  'coordinator.stage_file_bytes_max': bytes(
    64 * GIB,
    'Largest file, and largest part of one, that one request may put',
  ),
  'coordinator.stage_idle_timeout': duration(
    60_000,
    'Time without a byte after which a transfer into a stage, or from one, is cut off',
  ),
  'coordinator.stage_transfers_max': integer(256, 1, 100_000, 'Transfers into stages, and from them, at once'),
  'coordinator.stage_transfers_per_principal_max': integer(64, 1, 100_000, 'Those of one user'),
  'coordinator.statement_bytes_max': bytes(8 * MIB, 'Longest statement'),
  'coordinator.inline_text_bytes': bytes(
    32 * 1024,
    'Longest statement, request body or plan that the main thread works on; threads take what is longer',
  ),
  'coordinator.text_threads': integer(
    2,
    2,
    64,
    'Threads for texts longer than coordinator.inline_text_bytes; a tenant has half of them at most',
  ),
  'coordinator.statement_depth_max': integer(1_000, 10, 100_000, 'Deepest nesting of parentheses and expressions'),
  'coordinator.result_holdback': bytes(4 * MIB, 'Head of a result held back so that errors keep their HTTP status'),
  'coordinator.result_bytes_max': bytes(64 * GIB, 'Largest result'),
  'coordinator.query_timeout': duration(600_000, 'Timeout of a query that names none, from the arrival of its request'),
  'coordinator.query_timeout_max': duration(86_400_000, 'Longest timeout_ms that a request may name'),
  'coordinator.drain_timeout': duration(
    60_000,
    'Time for which statements go on after SIGTERM, while another coordinator leads; a second signal ends them',
  ),
  'coordinator.worker_wait': duration(
    10_000,
    'Time that a running query waits for a worker when none is left that can run its tasks',
  ),
  'coordinator.workload': choice<'on' | 'off'>(
    'on',
    ['off'],
    'off = every query runs at once, at one level and without limits of classes: to compare with',
  ),
  'coordinator.workload_file': string(
    '',
    'YAML of resource groups, routing rules, classes and levels (docs/workload.md), read again when it changes; empty = <data_dir>/workload.yaml if it is there',
  ),
  'coordinator.memory_reservation': sizes(
    ['256MB', '512MB', '1GB'],
    'Memory that an interactive, a medium and a batch query reserve at admission; less on a small cluster',
  ),
  'coordinator.memory_interactive_share': integer(
    25,
    0,
    90,
    'Percent of the workers’ memory that batch queries never get',
  ),
  'coordinator.memory_killer': choice<'largest' | 'youngest_lowest_class'>(
    'largest',
    ['youngest_lowest_class'],
    'Which query is cancelled when a worker’s process is near its memory limit: the one that it has grown most for, or the youngest of the lowest class among those that hold a tenth as much',
  ),
  'coordinator.session_idle': duration(1_800_000, 'Idle time after which a session ends'),
  'coordinator.sessions_max': integer(10_000, 1, 1_000_000, 'Sessions held at once'),
  'coordinator.sessions_per_principal_max': integer(
    1_000,
    1,
    1_000_000,
    'Sessions of one user held at once; unless it is set, at most a tenth of coordinator.sessions_max',
  ),
  'coordinator.transaction_timeout': duration(
    600_000,
    'Time from BEGIN after which a transaction is rolled back; at most half of catalog.table_version_lifetime',
  ),
  'coordinator.transaction_bytes_max': bytes(
    1_024 * 1_024 * MIB,
    'Files that the statements of one transaction may write',
  ),
  'coordinator.transaction_memory': bytes(
    256 * MIB,
    'Memory for the metadata of the tables that open transactions have changed; those of one tenant have half of it at most',
  ),
  'coordinator.transactions_per_principal_max': integer(
    100,
    1,
    100_000,
    'Transactions of one user that are open at once',
  ),
  'coordinator.prepared_statements_max': integer(1_000, 1, 100_000, 'Prepared statements of one session'),
  'coordinator.prepared_bytes_per_principal_max': bytes(
    32 * MIB,
    'Memory for the prepared statements of all sessions of one user',
  ),
  'coordinator.prepared_bytes_max': bytes(512 * MIB, 'Memory for the prepared statements of all users'),
  'coordinator.history': choice('on', ['off'], 'off: statements are not recorded; only to compare with'),
  'coordinator.history_dir': string(
    '',
    'Folder of the journal of history records that Postgres does not have yet; empty = <data_dir>/history',
  ),
  'coordinator.history_buffer_max': integer(
    10_000,
    1,
    1_000_000,
    'History records in memory that wait for Postgres; more wait in the journal alone',
  ),
  'coordinator.history_journal_bytes_max': bytes(
    GIB,
    'Size of that journal, over which the oldest records are lost: Postgres was away for too long',
  ),
  'coordinator.history_flush_interval': duration(100, 'Interval at which history records go to Postgres'),
  'coordinator.history_retention': duration(
    90 * 86_400_000,
    'Age up to which history is shown; a month’s records go when all of them are older',
  ),
  'coordinator.profile_bytes_max': bytes(
    MIB / 4,
    'Longest profile of a statement that its record has; a longer one is cut, the longest tasks last; 0 = none is kept',
  ),
  'coordinator.profiles_bytes_max': bytes(
    2 * GIB,
    'Room of all profiles in Postgres, over which the oldest are dropped, an eighth of it at once',
  ),
  'coordinator.cu_rate': rate(
    'Compute units of an hour of the whole cluster, as history counts them; cores = as many as the workers have cores that are live when a statement begins',
  ),
  'coordinator.metadata_cache_bytes': bytes(256 * MIB, 'Cache of table metadata and manifests'),
  'coordinator.file_list_bytes_max': bytes(64 * MIB, 'Longest list of the files of one scan'),
  'coordinator.file_lists_bytes_max': bytes(
    512 * MIB,
    'Memory for the lists of files of all queries; the queries of one tenant have half of it at most',
  ),
  'coordinator.rows_bytes_max': bytes(
    8 * MIB,
    'Rows of all SHOW and DESCRIBE statements that one statement reads like tables; each task that reads them carries them',
  ),
  'coordinator.metadata_rows_bytes_max': bytes(
    40 * MIB,
    'Rows of all metadata tables ("t$files", ...) that one statement reads, of the columns that it names; each task that reads them carries them, so it is less than worker.task_bytes_max',
  ),
  'coordinator.plan_cache_entries': integer(
    3_000,
    0,
    1_000_000,
    'Parses, plans and shared plans remembered of earlier statements; when there are too many, the user with the most loses one',
  ),
  'coordinator.plan_cache_bytes': bytes(
    96 * MIB,
    'Memory for what is remembered of earlier statements: parses, plans, and what their runs taught; when it is short, the user who takes the most loses an entry',
  ),

  'coordinator.orphan_retention_min': duration(
    7 * 86_400_000,
    'Shortest retention_threshold of remove_orphan_files: files of other engines’ writes that run may be so old',
  ),
  'coordinator.quarantine_ttl': duration(
    3_600_000,
    'Time for which statements of a shape are refused after one of them has ended a worker’s process',
  ),
  'coordinator.kills_max': integer(
    5,
    1,
    1_000_000,
    'Worker processes that a principal’s statements may end within coordinator.kills_window; then its statements are refused',
  ),
  'coordinator.kills_window': duration(600_000, 'Time within which coordinator.kills_max is counted'),
} as const satisfies Record<string, Key<unknown>>;
