// long file: one table of all commands, so that the help, the parser and the tests read the same
import type { ServiceName } from './service.ts';
import { BUCKET_FLAGS, UP_STORAGE_FLAG } from './bucket-flag-list.ts';
import { JSON_FLAG, type Command, type Flag } from './command.ts';
import { UsageError } from './exit-code.ts';

/** Every command, in the order of the help. A command's modules are loaded when it runs: `skein token` starts no engine. */

const UP_FLAGS: readonly Flag[] = [
  { name: 'workers', value: 'N', doc: 'Workers, at least 1 (default 2)', key: 'up.workers' },
  { name: 'worker-cores', value: 'K', doc: 'Cores of each worker (default: all of the machine)', key: 'worker.cores' },
  { name: 'worker-memory', value: 'SIZE', doc: 'Memory of each worker, such as 4GiB', key: 'worker.memory_limit' },
  {
    name: 'email',
    value: 'E',
    doc: 'Email of the first user, at the first start (default NAME@localhost)',
    key: 'admin.email',
  },
  { name: 'host', value: 'H', doc: 'Address of the public ports (default 127.0.0.1)', key: 'host' },
  {
    name: 'tls',
    doc: 'Makes an authority and a certificate in <data-dir>/tls/doors: clients come over TLS',
  },
  {
    name: 'port-base',
    value: 'P',
    doc: 'catalog P, HTTP P+1, workers P+10 on; 0 = any free ports (default 8181, 8080, 8090 on)',
    key: 'up.port_base',
  },
];

const TLS_CA_FLAG: Flag = {
  name: 'tls-ca',
  value: 'FILE',
  doc: 'Authority of the certificate of --url (default: the system’s)',
  key: 'client.tls_ca',
};

const CLIENT_FLAGS: readonly Flag[] = [
  { name: 'url', value: 'URL', doc: 'Query API (default: the cluster of the data directory)', key: 'client.query_url' },
  {
    name: 'token',
    value: 'TOKEN',
    doc: 'Bearer token (default: of skein login, else one of the cluster)',
    key: 'client.token',
  },
  TLS_CA_FLAG,
];

const tenantFlag: Flag = { name: 'tenant', value: 'T', doc: 'Tenant (default: the cluster’s first)' };

const adminFlag: Flag = { name: 'user', value: 'U', doc: 'An administrator of the tenant (default: the first one)' };

const CATALOG_FLAGS: readonly Flag[] = [
  { name: 'allow-root', value: 'URI', doc: 'Further root in which files of its tables may lie; may be repeated' },
  {
    name: 'undrop-window',
    value: 'TIME',
    doc: 'Time for which a dropped table can be had back, such as 7d (default 0: not at all)',
  },
];

const OUT_FLAG: Flag = { name: 'out', value: 'DIR', doc: 'Folder of the certificates (default <data-dir>/tls)' };

const service = (name: ServiceName, summary: string): Command => ({
  name,
  summary,
  flags: [],
  run: async ({ loaded }) => (await import('./service.ts')).runService(name, loaded.config),
});

export const COMMANDS: readonly Command[] = [
  {
    name: 'up',
    summary: 'Starts a cluster on this machine: Postgres, catalog, coordinator and workers, until it is stopped.',
    flags: [...UP_FLAGS, UP_STORAGE_FLAG, ...BUCKET_FLAGS],
    run: async ({ loaded, flags }) => (await import('./up/up.ts')).up(loaded, flags),
  },
  {
    name: 'down',
    summary: 'Stops the cluster.',
    flags: [],
    run: async ({ loaded }) => (await import('./down.ts')).down(loaded.config),
  },
  {
    name: 'console',
    summary: 'Prints a link that signs in to the console, once, within ten minutes.',
    flags: [
      tenantFlag,
      { name: 'user', value: 'U', doc: 'The user (default: the first administrator)' },
      { name: 'open', doc: 'Opens the link in the browser, too' },
    ],
    run: async ({ loaded, flags }) => (await import('./console.ts')).consoleCommand(loaded, flags),
  },
  {
    name: 'status',
    summary: 'Prints the services with their states, and the parked background jobs.',
    flags: [JSON_FLAG],
    run: async ({ loaded, flags }) => (await import('./status.ts')).status(loaded, flags.has('json')),
  },
  {
    name: 'workload check',
    summary: 'Checks a file of resource groups and routing rules.',
    flags: [],
    positionals: 'FILE',
    run: async ({ positionals }) => (await import('./workload.ts')).checkWorkload(positionals),
  },
  {
    name: 'workload route',
    summary: 'Prints the resource group of a statement.',
    flags: [
      { name: 'user', value: 'U', doc: 'User: id or name' },
      tenantFlag,
      { name: 'source', value: 'S', doc: 'Its X-Skein-Source' },
      { name: 'type', value: 'T', doc: 'Its type: select, insert, ddl, ... (default: select)' },
      { name: 'pool', value: 'P', doc: 'Its service.resource_pool' },
      { name: 'file', value: 'FILE', doc: 'Workload file (default: that of the configuration)' },
    ],
    run: async ({ loaded, flags }) => (await import('./workload.ts')).routeWorkload(loaded, flags),
  },
  {
    name: 'token',
    summary: 'Prints a bearer token.',
    flags: [
      { name: 'user', value: 'U', doc: 'User (default: the first admin)' },
      tenantFlag,
      { name: 'ttl', value: 'TIME', doc: 'Lifetime, such as 1h' },
      { name: 'scope', value: '"..."', doc: 'Scopes, separated by spaces (default: every scope)' },
    ],
    run: async ({ loaded, flags }) => (await import('./token.ts')).token(loaded, flags),
  },
  {
    name: 'load',
    summary:
      'Loads Parquet files, or TPC-H, into Iceberg tables: skein load parquet | tpch (skein load alone says more).',
    positionals: 'parquet | tpch ...',
    ownArguments: true,
    flags: [{ name: 'user', value: 'U', doc: 'User (default: the first admin)' }, tenantFlag],
    run: async ({ loaded, flags, positionals }) => (await import('./load-command.ts')).load(loaded, flags, positionals),
  },
  {
    name: 'login',
    summary: 'Signs you in by your browser; skein sql, put and get then work with your rights.',
    flags: [
      {
        name: 'url',
        value: 'URL',
        doc: 'Query API or catalog (default: the cluster of the data directory)',
        key: 'client.query_url',
      },
      { name: 'tenant', value: 'T', doc: 'Your tenant, where there are several' },
      { name: 'no-browser', doc: 'Opens no browser; takes the code that the page shows' },
      TLS_CA_FLAG,
    ],
    run: async ({ loaded, flags }) => (await import('./login/login.ts')).login(loaded, flags),
  },
  {
    name: 'logout',
    summary: 'Ends the sign-in of skein login, at every door.',
    flags: [
      { name: 'url', value: 'URL', doc: 'Its query API or catalog (default: the newest one)', key: 'client.query_url' },
      TLS_CA_FLAG,
    ],
    run: async ({ loaded }) => (await import('./login/logout.ts')).logout(loaded),
  },
  {
    name: 'whoami',
    summary: 'Says as whom skein sql, put and get work.',
    flags: [...CLIENT_FLAGS, JSON_FLAG],
    run: async ({ loaded, flags }) => (await import('./sql/whoami.ts')).whoami(loaded, flags),
  },
  {
    name: 'sql',
    summary: 'Runs SQL from -e, -f or standard input, or opens a shell.',
    flags: [
      { name: 'execute', short: 'e', value: 'SQL', doc: 'Statements to run; may be repeated' },
      { name: 'file', short: 'f', value: 'FILE', doc: 'File of statements to run' },
      { name: 'format', value: 'FORMAT', doc: 'table, csv, json or ndjson (default: table on a terminal, else csv)' },
      { name: 'timeout', value: 'TIME', doc: 'Timeout of each statement, such as 30s' },
      ...CLIENT_FLAGS,
    ],
    run: async ({ loaded, flags }) => (await import('./sql/sql-command.ts')).sqlCommand(loaded, flags),
  },
  {
    name: 'put',
    summary: 'Puts files into a stage: skein put FILE @stage/path, or skein put FILE ... @stage/folder/',
    positionals: 'FILE ... @STAGE[/PATH]',
    flags: CLIENT_FLAGS,
    run: async ({ loaded, flags, positionals }) => (await import('./stage/put.ts')).put(loaded, flags, positionals),
  },
  {
    name: 'get',
    summary: 'Gets files from a stage into a folder.',
    positionals: '@STAGE[/PATH] [FOLDER]',
    flags: CLIENT_FLAGS,
    run: async ({ loaded, flags, positionals }) => (await import('./stage/get.ts')).get(loaded, flags, positionals),
  },
  {
    name: 'config print',
    summary: 'Prints every setting, its value and where it comes from; secrets are not shown.',
    flags: [JSON_FLAG, ...UP_FLAGS],
    run: async ({ loaded, flags }) => (await import('./config-print.ts')).configPrint(loaded, flags.has('json')),
  },
  {
    name: 'doctor',
    summary:
      'Checks this machine, the data directory and the cluster; on a host of a larger one, what its services need.',
    flags: [
      JSON_FLAG,
      {
        name: 'service',
        value: 'KIND',
        doc: 'Service of this host: catalog, coordinator or worker; may be repeated (default: the roles of its certificate)',
      },
      ...UP_FLAGS,
    ],
    run: async ({ loaded, flags }) => (await import('./doctor/doctor.ts')).doctor(loaded, flags),
  },
  {
    name: 'admin tenant create',
    summary: 'Makes a tenant with its first user; prints the user’s password when it was generated.',
    positionals: 'NAME',
    flags: [
      { name: 'user', value: 'U', doc: 'Name of its first user (default admin)' },
      { name: 'email', value: 'E', doc: 'Email of that user (default U@localhost)' },
      {
        name: 'password-file',
        value: 'FILE',
        doc: 'File with that user’s password (- = standard input; default: generated)',
      },
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).createTenant(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin tenant alter',
    summary: 'Changes what the passwords of a tenant’s users must be, and who must have a second factor.',
    positionals: 'NAME',
    flags: [
      { name: 'password-min-length', value: 'N', doc: 'Fewest characters, 8 to 128 (12 at first)' },
      { name: 'password-classes', value: 'N', doc: 'Small letters, capital letters, digits, others: of so many (3)' },
      { name: 'password-history', value: 'N', doc: 'Former passwords that are not taken again, 0 to 24 (5)' },
      { name: 'mfa', value: 'WHO', doc: 'Who must have a second factor: administrators (at first) or everyone' },
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).alterTenant(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin user reset-mfa',
    summary: 'Removes the second factors of a user who has lost them; his tokens end.',
    positionals: 'NAME',
    flags: [tenantFlag],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).rescueUser(loaded, flags, only(positionals, 'NAME'), 'reset_mfa'),
  },
  {
    name: 'admin user unlock',
    summary: 'Removes the lock that wrong passwords and codes have put on a user.',
    positionals: 'NAME',
    flags: [tenantFlag],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).rescueUser(loaded, flags, only(positionals, 'NAME'), 'unlock'),
  },
  {
    name: 'admin user set-password',
    summary: 'Gives a user the password that standard input holds; he must change it at his next sign-in.',
    positionals: 'NAME',
    flags: [tenantFlag],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).rescueUser(loaded, flags, only(positionals, 'NAME'), 'set_password'),
  },
  {
    name: 'admin audit export',
    summary: 'Prints a tenant’s audit log as JSON lines, the oldest row first.',
    flags: [tenantFlag, { name: 'since', value: 'TIME', doc: 'Rows from this time on, such as 2026-01-31' }],
    run: async ({ loaded, flags }) => (await import('./admin-audit.ts')).exportAudit(loaded, flags),
  },
  {
    name: 'admin tenant list',
    summary: 'Prints the names of the tenants.',
    flags: [JSON_FLAG],
    run: async ({ loaded, flags }) => (await import('./admin.ts')).listTenants(loaded, flags.has('json')),
  },
  {
    name: 'admin tenant drop',
    summary: 'Drops a tenant that has no catalogs, with its users and clients.',
    positionals: 'NAME',
    flags: [],
    run: async ({ loaded, positionals }) => (await import('./admin.ts')).dropTenant(loaded, only(positionals, 'NAME')),
  },
  {
    name: 'admin catalog create',
    summary: 'Makes a catalog.',
    positionals: 'NAME',
    flags: [
      tenantFlag,
      { name: 'location', value: 'URI', doc: 'Root of its tables (default: in the data directory)' },
      { name: 'storage', value: 'URI', doc: 'The same in a bucket: s3://, gs:// or abfss://' },
      ...BUCKET_FLAGS,
      ...CATALOG_FLAGS,
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).createCatalog(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin catalog alter',
    summary:
      'Changes how the bucket of a catalog is reached, the roots that it allows, and the time for which its dropped tables can be restored.',
    positionals: 'NAME',
    flags: [
      ...BUCKET_FLAGS,
      ...CATALOG_FLAGS,
      { name: 'disallow-root', value: 'URI', doc: 'Root that is no longer allowed; may be repeated' },
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin.ts')).alterCatalog(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin catalog check',
    summary:
      'Tries what a catalog needs of its bucket, and what temporary keys must be refused; fails when one check does.',
    positionals: 'NAME',
    flags: [],
    run: async ({ loaded, positionals }) =>
      (await import('./admin.ts')).checkCatalog(loaded, only(positionals, 'NAME')),
  },
  {
    name: 'admin catalog list',
    summary: 'Prints the catalogs: name, tenant, location, UNDROP window, further roots.',
    flags: [JSON_FLAG, { name: 'tenant', value: 'T', doc: 'Of this tenant only' }],
    run: async ({ loaded, flags }) => (await import('./admin.ts')).listCatalogs(loaded, flags),
  },
  {
    name: 'admin catalog drop',
    summary: 'Drops an empty catalog; its files stay.',
    positionals: 'NAME',
    flags: [],
    run: async ({ loaded, positionals }) => (await import('./admin.ts')).dropCatalog(loaded, only(positionals, 'NAME')),
  },
  {
    name: 'admin secrets rotate',
    summary:
      'Puts a new key before the others in the file of cluster.secrets_key_file, and encrypts all secrets with it.',
    flags: [
      {
        name: 'step',
        value: 'add|use|seal',
        doc: 'One step of it, for catalogs on several hosts; the file goes to all of them in between',
      },
    ],
    run: async ({ loaded, flags }) => (await import('./admin-secrets.ts')).rotateSecretsKey(loaded, flags),
  },
  {
    name: 'admin client create',
    summary:
      'Makes an OAuth client for the service account NAME, which it makes when there is none; prints its client_id and client_secret, this once.',
    positionals: 'NAME',
    flags: [
      tenantFlag,
      { name: 'role', value: 'R', doc: 'Role of the service account; may be repeated (default: none)' },
      { name: 'scope', value: '"..."', doc: 'All that its tokens may be granted (default: every scope)' },
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin-client.ts')).createClient(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin client rotate',
    summary:
      'Gives a client a new secret. The old one ends at once, with all tokens of the client, unless --overlap is given.',
    positionals: 'NAME',
    flags: [
      tenantFlag,
      { name: 'overlap', value: 'TIME', doc: 'Keeps tokens, and the old secret for so long, such as 24h' },
    ],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin-client.ts')).rotateClient(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'admin client list',
    summary: 'Prints the clients of a tenant, without their secrets.',
    flags: [JSON_FLAG, tenantFlag],
    run: async ({ loaded, flags }) => (await import('./admin-client.ts')).listClients(loaded, flags),
  },
  {
    name: 'admin client drop',
    summary: 'Drops a client and revokes all its tokens.',
    positionals: 'NAME',
    flags: [tenantFlag],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin-client.ts')).dropClient(loaded, flags, only(positionals, 'NAME')),
  },
  {
    name: 'cluster ca',
    summary: 'Makes an authority, a certificate for each role and a secret, for a cluster of several machines.',
    flags: [
      OUT_FLAG,
      { name: 'name', value: 'NAME', doc: 'Name of the authority (default skein)' },
      { name: 'days', value: 'N', doc: 'Life of the authority (default 3650)' },
      { name: 'cert-days', value: 'N', doc: 'Life of the certificates (default 365)' },
      { name: 'etcd-host', value: 'HOST', doc: 'Further name or address of etcd; may be repeated' },
      {
        name: 'door-host',
        value: 'HOST',
        doc: 'Further name or address of the coordinator for clients; may be repeated',
      },
    ],
    run: async ({ loaded, flags }) => (await import('./cluster/certificate-commands.ts')).clusterCa(loaded, flags),
  },
  {
    name: 'cluster cert',
    summary: 'Makes one more certificate, or replaces an old one.',
    flags: [
      OUT_FLAG,
      { name: 'role', value: 'ROLE', doc: 'catalog, coordinator, worker, operator or etcd; may be repeated' },
      { name: 'name', value: 'NAME', doc: 'Name of its holder, and of its folder (default: the role)' },
      { name: 'host', value: 'HOST', doc: 'Name or address of its holder, where clients compare it; may be repeated' },
      { name: 'days', value: 'N', doc: 'Life (default 365)' },
    ],
    run: async ({ loaded, flags }) => (await import('./cluster/certificate-commands.ts')).clusterCert(loaded, flags),
  },
  {
    name: 'cluster etcd-auth',
    summary: 'Enables authentication in etcd, with a user for each role.',
    flags: [],
    run: async ({ loaded }) => (await import('./cluster/etcd-auth.ts')).etcdAuth(loaded),
  },
  {
    name: 'cluster rotate-secret',
    summary: 'Replaces the secret of the cluster while it runs.',
    flags: [{ name: 'step', value: 'STEP', doc: 'One step only, for a cluster of several machines: add, use or drop' }],
    run: async ({ loaded, flags }) => (await import('./cluster/rotate-secret.ts')).rotateSecret(loaded, flags),
  },
  {
    name: 'cluster restart',
    summary:
      'Has the processes of a cluster of several hosts end and be started again by their supervisors, one after the other; stops at the first that is not ready.',
    flags: [
      { name: 'kind', value: 'KIND', doc: 'Only those of this kind: catalog, coordinator or worker' },
      { name: 'wait', value: 'TIME', doc: 'Time until a process that has ended is ready again (default 2m)' },
    ],
    run: async ({ loaded, flags }) => (await import('./cluster/restart.ts')).clusterRestart(loaded, flags),
  },
  {
    name: 'admin job list',
    summary: 'Prints the background jobs that failed too often and are parked: purges of dropped tables.',
    flags: [JSON_FLAG],
    run: async ({ loaded, flags }) => (await import('./admin-job.ts')).listJobs(loaded, flags.has('json')),
  },
  {
    name: 'admin job retry',
    summary: 'Retries a parked job.',
    positionals: 'JOB',
    flags: [{ name: 'all', doc: 'Every parked job' }],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin-job.ts')).retryJobs(loaded, flags, positionals),
  },
  {
    name: 'admin quarantine list',
    summary: 'Prints the quarantined statements: one of their shape has ended a worker’s process.',
    flags: [JSON_FLAG, tenantFlag, adminFlag],
    run: async ({ loaded, flags }) => (await import('./admin-quarantine.ts')).listQuarantine(loaded, flags),
  },
  {
    name: 'admin quarantine lift',
    summary: 'Lifts a quarantine: statements of its shape are served again.',
    positionals: 'ID',
    flags: [tenantFlag, adminFlag],
    run: async ({ loaded, flags, positionals }) =>
      (await import('./admin-quarantine.ts')).liftQuarantine(loaded, flags, only(positionals, 'ID')),
  },
  service('catalog', 'Runs one catalog.'),
  service('coordinator', 'Runs one coordinator.'),
  {
    name: 'worker',
    summary: 'Runs one worker, and starts it again when it ends itself or dies.',
    flags: [
      { name: 'bare', doc: 'Runs it in this process, without a supervisor' },
      { name: 'standby', doc: 'Loads the program and waits until its supervisor tells it to take over' },
    ],
    run: async ({ loaded, flags }) => {
      const { config } = loaded;
      const isBare = flags.has('bare') || process.send !== undefined;
      if (isBare)
        return (await import('./service.ts')).runService('worker', config, { isStandby: flags.has('standby') });
      return (await import('./supervise-worker.ts')).superviseWorker(config);
    },
  },
  {
    name: 'worker cache clear',
    summary: 'Deletes the copies of files that a worker, or each of them, keeps on its disk. Queries go on.',
    flags: [],
    positionals: '[NAME]',
    run: async ({ loaded, positionals }) => (await import('./worker-cache.ts')).clearWorkerCache(loaded, positionals),
  },
  {
    name: 'worker drain',
    summary: 'Lets a worker finish its queries, take no new ones, and end. Under skein up it is then restarted.',
    positionals: 'NAME | HOST:PORT',
    flags: [],
    run: async ({ loaded, positionals }) =>
      (await import('./worker-drain.ts')).workerDrain(loaded, only(positionals, 'NAME | HOST:PORT')),
  },
];

function only(positionals: readonly string[], what: string): string {
  const [first, ...others] = positionals;
  if (first === undefined || others.length > 0) throw new UsageError(`expected exactly one ${what}`);
  return first;
}
