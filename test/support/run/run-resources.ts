import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestProject } from 'vitest/node';
import { RunDatabases } from './run-databases.ts';
import { SharedCluster } from './shared-cluster.ts';

/**
 * Resources that all suites of a run share: one Postgres with a migrated template, and one cluster with TPC-H at scale 0.01. Each is
 * started when a suite first asks, by the process that runs the whole run, and ends with it. Suites ask through `resources.ts`.
 */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const databases = new RunDatabases();
  const cluster = new SharedCluster(databases);
  const answers: Readonly<Record<string, (body: unknown) => Promise<unknown>>> = {
    '/databases': () => databases.create(),
    '/databases/drop': (body) => databases.drop(body as { url: string }),
    '/cluster': () => cluster.started(),
    '/fixture': () => cluster.fixture(),
  };
  const server = createServer((request, response) => void answer(answers, request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project.provide('resourcesUrl', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  return async () => {
    await closed(server);
    await cluster.stop();
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
