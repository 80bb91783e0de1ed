import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mintToken } from '#cli/catalog-rpc.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { openChannelSecurity } from '#shared/grpc/channel-security.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { TestCertificates, type TlsSettings } from './certificates.ts';
import { settingsEnv } from './cluster.ts';
import { startEtcd, type Etcd } from './etcd.ts';
import { NamespacedService } from './namespaced-service.ts';
import { WorkerNetwork, type NetworkMember } from './network-namespaces.ts';
import { startTestPostgres, type TestPostgres } from './postgres.ts';

const SECRET = 'the-secret-of-the-cluster-of-hosts';
const METRICS_TOKEN = 'metrics-of-the-hosts';
const CATALOGS = 2;
const COORDINATORS = 2;
const WORKERS = 2;

/**
 * A cluster of hosts, each a network namespace on one bridge: Postgres, etcd, two catalogs, two coordinators, two workers; mutual TLS and a
 * shared `file:` warehouse. It needs root.
 */
export class HostCluster implements AsyncDisposable {
  readonly catalogs: NamespacedService[] = [];
  readonly coordinators: NamespacedService[] = [];
  readonly workers: NamespacedService[] = [];
  readonly etcd: Etcd;
  readonly etcdHost: NetworkMember;
  readonly postgres: TestPostgres;
  readonly postgresHost: NetworkMember;
  /** Environment of a command of the operator's. */
  readonly operator: Readonly<Record<string, string>>;
  readonly #operatorTls: TlsSettings;
  readonly #stack: AsyncDisposableStack;

  private constructor(parts: {
    readonly etcd: Etcd;
    readonly etcdHost: NetworkMember;
    readonly postgres: TestPostgres;
    readonly postgresHost: NetworkMember;
    readonly operator: Readonly<Record<string, string>>;
    readonly operatorTls: TlsSettings;
    readonly stack: AsyncDisposableStack;
  }) {
    this.etcd = parts.etcd;
    this.etcdHost = parts.etcdHost;
    this.postgres = parts.postgres;
    this.postgresHost = parts.postgresHost;
    this.operator = parts.operator;
    this.#operatorTls = parts.operatorTls;
    this.#stack = parts.stack;
  }

  static async start(): Promise<HostCluster> {
    await using stack = new AsyncDisposableStack();
    const network = await WorkerNetwork.create();
    if (network === null) throw new Error('network namespaces cannot be made');
    stack.use(network);
    const folder = await mkdtemp(join(tmpdir(), 'skein-hosts-'));
    if (process.env['KEEP_HOSTS'] === undefined)
      stack.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 3 }));
    const postgresHost = await network.add();
    const postgres = stack.use(await startTestPostgres({ member: postgresHost }));
    const certificates = stack.use(await TestCertificates.make());
    const operatorTls = await certificates.issue('operator', ['operator']);
    const etcdHost = await network.add();
    const server = await certificates.issue('etcd', ['etcd'], ['127.0.0.1', etcdHost.address]);
    const etcd = stack.use(await startEtcd({ member: etcdHost, tls: { server, client: operatorTls } }));
    const secretFile = join(folder, 'cluster-secret');
    await writeFile(secretFile, SECRET, { mode: 0o600 });
    const secretsKey = join(folder, 'secrets-key');
    await writeFile(secretsKey, `${SECRET}-keys\n`, { mode: 0o600 });
    const hosts: NetworkMember[] = [];
    for (let i = 0; i < CATALOGS + COORDINATORS + WORKERS; i++) hosts.push(await network.add());
    const catalogHosts = hosts.slice(0, CATALOGS);
    const shared = {
      SKEIN_CLUSTER_SECRET_FILE: secretFile,
      ETCD_ENDPOINTS: etcd.endpoint,
      SKEIN_CATALOG_URL: `http://${catalogHosts[0]?.address}:8181`,
      SKEIN_CATALOG_INTERNAL_URL: catalogHosts.map(({ address }) => `${address}:8191`).join(','),
      SKEIN_BOOTSTRAP_WAREHOUSE: `file://${join(folder, 'warehouse')}`,
      SKEIN_CLUSTER_SECRETS_KEY_FILE: secretsKey,
      SKEIN_METRICS_TOKEN: METRICS_TOKEN,
      SKEIN_LOG_LEVEL: 'info',
    };
    await mkdir(join(folder, 'warehouse'));
    const operator = { ...shared, ...settingsEnv(operatorTls), SKEIN_DATA_DIR: join(folder, 'operator') };
    const places = { etcd, etcdHost, postgres, postgresHost };
    const made = new HostCluster({ ...places, operator, operatorTls, stack: stack.move() });
    try {
      await made.#startServices(hosts, { folder, shared, database: postgres.url, certificates });
    } catch (error) {
      await made[Symbol.asyncDispose]();
      throw error;
    }
    return made;
  }

  async #startServices(
    hosts: readonly NetworkMember[],
    parts: {
      readonly folder: string;
      readonly shared: Readonly<Record<string, string>>;
      readonly database: string;
      readonly certificates: TestCertificates;
    },
  ): Promise<void> {
    const kinds = [
      ...Array<'catalog'>(CATALOGS).fill('catalog'),
      ...Array<'coordinator'>(COORDINATORS).fill('coordinator'),
      ...Array<'worker'>(WORKERS).fill('worker'),
    ];
    for (const [i, kind] of kinds.entries()) {
      const member = hosts[i];
      if (member === undefined) throw new Error('invariant: a host for each service');
      const name = `${kind}-${i}`;
      const environment = {
        ...parts.shared,
        ...settingsEnv(await parts.certificates.issue(name, [kind])),
        ...(kind === 'worker' ? {} : { DATABASE_URL: parts.database }),
        SKEIN_DATA_DIR: join(parts.folder, name),
        SKEIN_HOST: '0.0.0.0',
        SKEIN_INTERNAL_HOST: '0.0.0.0',
        SKEIN_CLUSTER_ADVERTISE_HOST: member.address,
        SKEIN_CATALOG_INTERNAL_PORT: '8191',
        SKEIN_WORKER_NAME: name,
        SKEIN_WORKER_CORES: '1',
        SKEIN_WORKER_MEMORY_LIMIT: '1GiB',
        SKEIN_ADMIN_PASSWORD: 'a long enough password',
      };
      const service = new NamespacedService(kind, member, { environment, log: join(parts.folder, `${name}.log`) });
      this.#stack.use(service);
      await service.start();
      this.#listOf(kind).push(service);
    }
  }

  #listOf(kind: NamespacedService['kind']): NamespacedService[] {
    switch (kind) {
      case 'catalog':
        return this.catalogs;
      case 'coordinator':
        return this.coordinators;
      case 'worker':
        return this.workers;
    }
  }

  /** A token of the administrator. */
  async token(): Promise<string> {
    const config = defaultConfig({ ...this.#operatorTls, 'cluster.secret': SECRET });
    using security = openChannelSecurity(config, 'operator', silentLogger);
    const internalUrl = this.catalogs.map(({ member }) => `${member.address}:8191`).join(',');
    return await mintToken({ internalUrl, security, tenant: 'default', user: 'admin' });
  }

  /** The coordinator that is ready. */
  async leader(): Promise<NamespacedService | undefined> {
    for (const one of this.coordinators) {
      const ready = await fetch(`${urlOf(one)}/health/ready`, { signal: AbortSignal.timeout(500) }).then(
        (response) => response.status === 200,
        () => false,
      );
      if (ready) return one;
    }
    return undefined;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

export const urlOf = ({ member }: NamespacedService): string => `http://${member.address}:8080`;
