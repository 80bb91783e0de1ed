import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { RunBucket, type OverBucket } from './run-bucket.ts';
import { RunDatabases } from './run-databases.ts';
import { SharedCluster } from './shared-cluster.ts';

/**
 * Resources that all suites of a run share: one Postgres with a migrated template, and one cluster with TPC-H at scale 0.01; for suites
 * whose tables lie in a bucket the store, and another such cluster. Each is started when a suite first asks, by the process that runs the whole run, and ends with it. Suites ask through `resources.ts`.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const databases = new RunDatabases();
  const bucket = new RunBucket();
  const local = new SharedCluster(databases, () => Promise.resolve({ args: [], env: {} }));
  const inBuckets = new Map<string, SharedCluster>();
  const clusterFor = (over: OverBucket | null): SharedCluster => {
    if (over === null) return local;
    const found = inBuckets.get(over.diskCacheSize) ?? new SharedCluster(databases, () => bucket.place(over));
    inBuckets.set(over.diskCacheSize, found);
    return found;
  };
  const answers: Readonly<Record<string, (body: unknown) => Promise<unknown>>> = {
    '/databases': () => databases.create(),
    '/databases/drop': (body) => databases.drop(body as { url: string }),
    '/bucket': (body) => bucket.place(body as OverBucket),
    '/cluster': (body) => clusterFor(body as OverBucket | null).started(),
    '/fixture': (body) => clusterFor(body as OverBucket | null).fixture(),
  };
  const server = createServer((request, response) => void answer(answers, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('resourcesUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    await closed(server);
    await Promise.all([local, ...inBuckets.values()].map((cluster) => cluster.stop()));
    await bucket.stop();
    await databases.stop();
  };
}

declare module 'vitest' {
  interface ProvidedContext {
    /** URL of the server that `resources.ts` asks. */
    resourcesUrl: string;
  }
}

async function answer(
  answers: Readonly<Record<string, (body: unknown) => Promise<unknown>>>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const work = answers[request.url ?? ''];
    if (work === undefined) throw new Error(`no resource ${request.url}`);
    const made = await work(JSON.parse(Buffer.concat(chunks).toString() || 'null'));
    response.writeHead(200).end(JSON.stringify(made ?? null));
  } catch (error) {
    response.writeHead(500).end(error instanceof Error ? (error.stack ?? error.message) : String(error));
  }
}

const closed = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
