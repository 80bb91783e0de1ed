import { GenericContainer, getContainerRuntimeClient, Wait, type StartedTestContainer } from 'testcontainers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startCluster, type StartedCluster } from '../support/cluster.ts';

/**
 * The images of `docker-compose.yml` for Postgres and etcd, where a container engine runs; elsewhere `etcd.test.ts` and the launcher's
 * own tests start the same servers as processes.
 */
const engine = await getContainerRuntimeClient().then(
  () => true,
  () => false,
);
const PASSWORD = 'for-this-test-only';

describe.skipIf(!engine)('a cluster on containers of Postgres and etcd', () => {
  const containers: StartedTestContainer[] = [];
  let cluster: StartedCluster;

  beforeAll(async () => {
    const postgres = await new GenericContainer('postgres:18')
      .withEnvironment({ POSTGRES_PASSWORD: PASSWORD })
      .withExposedPorts(5432)
      .withWaitStrategy(Wait.forLogMessage(/ready to accept connections/, 2))
      .start();
    containers.push(postgres);
    const etcd = await new GenericContainer('quay.io/coreos/etcd:v3.5.21')
      .withCommand(['etcd', '--listen-client-urls=http://0.0.0.0:2379', '--advertise-client-urls=http://0.0.0.0:2379'])
      .withExposedPorts(2379)
      .withWaitStrategy(Wait.forListeningPorts())
      .start();
    containers.push(etcd);
    cluster = await startCluster({
      env: {
        DATABASE_URL: `postgres://postgres:${PASSWORD}@${postgres.getHost()}:${postgres.getMappedPort(5432)}/postgres`,
        ETCD_ENDPOINTS: `http://${etcd.getHost()}:${etcd.getMappedPort(2379)}`,
      },
    });
  });
  afterAll(async () => {
    await cluster?.stop();
    for (const container of containers) await container.stop();
  });

  test('answers a query', async () => {
    expect(await cluster.sql('SELECT 40 + 2')).toEqual([[42]]);
  });
});
