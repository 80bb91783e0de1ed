import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { parseDuration } from '#shared/config/parse-setting.ts';
import { loadConfig } from '#shared/config/load-config.ts';
import { must } from '#shared/must.ts';
import { projectRoot, run } from '../support/cluster.ts';
import { pythonBin } from '../support/python.ts';

/** Settings with which every branch of the chart is printed. */
const CHARTS: Readonly<Record<string, readonly string[]>> = {
  plain: [],
  bucket: ['warehouse.url=s3://lake/prefix', 'warehouse.existingClaim=', 'env.SKEIN_LOG_LEVEL=debug'],
  strict: ['antiAffinity=required', 'coordinator.doorSecret=skein-doors', 'worker.spill.storageClassName=fast'],
};
const CHART = join(projectRoot, 'deploy/helm/skein');

type Variable = { readonly name: string; readonly value?: string; readonly valueFrom?: unknown };
type Container = {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: readonly Variable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: { readonly httpGet: { readonly port: string; readonly scheme?: string } };
  readonly securityContext: { readonly readOnlyRootFilesystem: boolean };
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
};
type Manifest = {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly selector?: unknown;
    readonly ports?: readonly { readonly targetPort: string }[];
    readonly ingress?: readonly { readonly ports?: readonly { readonly port: number }[]; readonly from?: unknown }[];
    readonly volumeClaimTemplates?: readonly { readonly metadata: { readonly name: string } }[];
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly terminationGracePeriodSeconds?: number;
        readonly automountServiceAccountToken?: boolean;
        readonly affinity: {
          readonly podAntiAffinity: {
            readonly preferredDuringSchedulingIgnoredDuringExecution?: readonly unknown[];
            readonly requiredDuringSchedulingIgnoredDuringExecution?: readonly {
              readonly labelSelector: { readonly matchLabels: Readonly<Record<string, string>> };
            }[];
          };
        };
        readonly containers: readonly Container[];
        readonly volumes: readonly { readonly name: string }[];
      };
    };
  };
};

async function helm(...args: readonly string[]): Promise<string> {
  const done = await run(join(await pythonBin('helm'), 'helm'), args);
  expect(done.code, done.stderr).toBe(0);
  return done.stdout;
}

const template = (settings: readonly string[]): Promise<string> =>
  helm('template', 'skein', CHART, ...settings.flatMap((one) => ['--set', one]));

async function manifests(...settings: readonly string[]): Promise<readonly Manifest[]> {
  const text = await template(settings);
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest);
}

const podsOf = (all: readonly Manifest[]) =>
  all.flatMap(({ spec }) => (spec.template === undefined ? [] : [spec.template]));

test('the chart is valid, and has two catalogs, two coordinators, three workers and a budget for each', async () => {
  expect(await helm('lint', '--strict', CHART)).toContain('1 chart(s) linted, 0 chart(s) failed');
  const all = await manifests();
  expect(
    all.map(({ kind, metadata, spec }) => `${kind} ${metadata.name} ${spec.replicas ?? ''}`.trim()).toSorted(),
  ).toEqual([
    'NetworkPolicy skein-internal',
    'PodDisruptionBudget skein-catalog',
    'PodDisruptionBudget skein-coordinator',
    'PodDisruptionBudget skein-worker',
    'Service skein-catalog',
    'Service skein-catalogs',
    'Service skein-coordinator',
    'Service skein-coordinators',
    'Service skein-workers',
    'StatefulSet skein-catalog 2',
    'StatefulSet skein-coordinator 2',
    'StatefulSet skein-worker 3',
  ]);
});

test('every manifest is valid by the schemas of Kubernetes: of the oldest that the chart allows, and of a new one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-helm-'));
  try {
    const validate = join(await pythonBin('helm'), 'kubernetes-validate');
    for (const [name, settings] of Object.entries(CHARTS)) {
      const path = join(folder, `${name}.yaml`);
      await writeFile(path, await template(settings));
      for (const version of ['1.27.0', '1.37.0']) {
        const done = await run(validate, ['--strict', '--kubernetes-version', version, path]);
        expect(done.code, `${name}, ${version}: ${done.stdout}${done.stderr}`).toBe(0);
      }
    }
    // It does see what is wrong.
    const path = join(folder, 'wrong.yaml');
    await writeFile(
      path,
      (await template([])).replaceAll('terminationGracePeriodSeconds: 620', 'terminationGracePeriod: 620'),
    );
    expect((await run(validate, ['--strict', '--kubernetes-version', '1.37.0', path])).code).not.toBe(0);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}, 180_000);

test('every pod knows each catalog by its own name, and catalogs alone have the key of stored secrets', async () => {
  for (const [replicas, addresses] of [
    [2, 'skein-catalog-0.skein-catalogs:8191,skein-catalog-1.skein-catalogs:8191'],
    [1, 'skein-catalog-0.skein-catalogs:8191'],
  ] as const) {
    for (const { spec } of podsOf(await manifests(`catalog.replicas=${replicas}`))) {
      const { name, env, volumeMounts } = must(spec.containers[0], 'a container');
      expect(env).toContainEqual({ name: 'SKEIN_CATALOG_INTERNAL_URL', value: addresses });
      expect(volumeMounts.some((mount) => mount.name === 'secrets-key')).toBe(name === 'catalog');
    }
  }
});

test('no pod has an account of Kubernetes, and internal ports are for pods of the release alone', async () => {
  const all = await manifests();
  expect(podsOf(all).map(({ spec }) => spec.automountServiceAccountToken)).toEqual([false, false, false]);
  const ingress = must(all.find(({ kind }) => kind === 'NetworkPolicy')?.spec.ingress, 'a policy');
  const open = ingress.filter(({ from }) => from === undefined).flatMap(({ ports = [] }) => ports);
  // REST, HTTP, Flight SQL and the metrics of workers; not the internal ports of catalogs, coordinators and workers.
  expect(open.map(({ port }) => port)).toEqual([8181, 8080, 8082, 5433, 8091]);
});

test('pods of a kind keep apart, and a certificate for clients comes into coordinators, whose probes then use it', async () => {
  for (const { spec } of podsOf(await manifests())) {
    expect(spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution).toHaveLength(1);
    expect(must(spec.containers[0], 'a container').readinessProbe.httpGet.scheme ?? 'HTTP').toBe('HTTP');
  }
  const strict = podsOf(await manifests('antiAffinity=required', 'coordinator.doorSecret=skein-doors'));
  for (const { spec } of strict) {
    const kept = spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    const { name, env, readinessProbe } = must(spec.containers[0], 'a container');
    expect(kept?.[0]?.labelSelector.matchLabels['app.kubernetes.io/component']).toBe(name);
    expect(env.some((variable) => variable.name === 'SKEIN_COORDINATOR_TLS_CERT')).toBe(name === 'coordinator');
    expect(readinessProbe.httpGet.scheme ?? 'HTTP').toBe(name === 'coordinator' ? 'HTTPS' : 'HTTP');
  }
});

test('each pod starts with settings that are valid, drains in its time, and mounts what it names', async () => {
  const all = await manifests();
  for (const manifest of all.filter(({ spec }) => spec.template !== undefined)) {
    const pod = must(manifest.spec.template, 'a pod').spec;
    const container = must(pod.containers[0], 'a container');
    const environment = Object.fromEntries(
      container.env
        .filter(({ name }) => /^(?:SKEIN_|ETCD_|DATABASE_)/.test(name))
        .map(({ name, value }) => [name, value ?? 'postgres://from-a-secret']),
    );
    const { config } = loadConfig({ environment, workingDir: '/nonexistent' });
    expect(container.args).toEqual([container.name]);
    expect(config['database.url'] === '').toBe(container.name === 'worker');
    expect(container.securityContext.readOnlyRootFilesystem).toBe(true);
    const names = container.ports.map(({ name }) => name);
    expect(names).toContain(container.readinessProbe.httpGet.port);
    const volumes = [
      ...pod.volumes.map(({ name }) => name),
      ...(manifest.spec.volumeClaimTemplates ?? []).map(({ metadata }) => metadata.name),
    ];
    expect(volumes.toSorted()).toEqual(container.volumeMounts.map(({ name }) => name).toSorted());
    if (container.name === 'worker') {
      expect(must(pod.terminationGracePeriodSeconds, 'a time') * 1_000).toBeGreaterThan(config['worker.drain_timeout']);
    }
    if (container.name === 'coordinator') {
      expect(must(pod.terminationGracePeriodSeconds, 'a time') * 1_000).toBeGreaterThan(parseDuration('60s'));
    }
  }
});

test('each Service and each budget selects the pods of its kind, and names ports that they have', async () => {
  const all = await manifests();
  const pods = podsOf(all);
  for (const { kind, metadata, spec } of all) {
    if (kind !== 'Service' && kind !== 'PodDisruptionBudget') continue;
    const selector = (
      kind === 'Service' ? spec.selector : (spec.selector as { matchLabels: unknown }).matchLabels
    ) as Record<string, string>;
    const found = pods.filter(({ metadata: { labels } }) =>
      Object.entries(selector).every(([k, v]) => labels[k] === v),
    );
    expect(found, metadata.name).toHaveLength(1);
    const ports = must(found[0]?.spec.containers[0], 'a container').ports.map(({ name }) => name);
    for (const { targetPort } of spec.ports ?? []) expect(ports).toContain(targetPort);
  }
});

test('a warehouse in a bucket needs no volume, and settings of a user come into every pod', async () => {
  const pods = podsOf(
    await manifests('warehouse.url=s3://lake/prefix', 'warehouse.existingClaim=', 'env.SKEIN_LOG_LEVEL=debug'),
  );
  expect(pods).toHaveLength(3);
  for (const { spec } of pods) {
    expect(spec.volumes.map(({ name }) => name)).not.toContain('warehouse');
    expect(spec.containers[0]?.env).toContainEqual({ name: 'SKEIN_LOG_LEVEL', value: 'debug' });
  }
});
