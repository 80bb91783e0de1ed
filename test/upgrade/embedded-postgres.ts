import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import { NODE_FLAGS } from '#cli/node-flags.js';
import { isStartMessage } from '#cli/up/child-message.ts';
import { POSTGRES_DATABASE, POSTGRES_USER } from '#cli/up/postgres-process.ts';
import { ensureSecret, secretPath } from '#cli/secrets.ts';
import { freePort } from '#test/support/postgres.ts';

const POSTGRES_PROCESS = fileURLToPath(import.meta.resolve('#cli/up/postgres-process.ts'));

/** The URL of the Postgres of a data directory, as `skein up` has it, on the given port. */
export function embeddedUrl(dataDir: string, port: number): string {
  const password = ensureSecret(dataDir, 'postgres-password');
  return `postgres://${POSTGRES_USER}:${password}@127.0.0.1:${port}/${POSTGRES_DATABASE}`;
}

export async function connect(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}

/**
 * Runs the Postgres of a data directory while no cluster does, in the process that `skein up` starts for it: it is made when there is
 * none.
 */
export async function withEmbeddedPostgres<T>(
  dataDir: string,
  work: (client: Client, url: string) => Promise<T>,
): Promise<T> {
  const port = await freePort();
  const url = embeddedUrl(dataDir, port);
  const words = [join(dataDir, 'postgres'), secretPath(dataDir, 'postgres-password'), String(port)];
  const child = spawn(process.execPath, [...NODE_FLAGS, POSTGRES_PROCESS, ...words], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  try {
    await started(child);
    const client = await connect(url);
    try {
      return await work(client, url);
    } finally {
      await client.end();
    }
  } finally {
    await stopped(child);
  }
}

async function started(child: ChildProcess): Promise<void> {
  const early = new AbortController();
  try {
    const ended = once(child, 'exit', early).then(() => {
      throw new Error('Postgres ended at its start');
    });
    const [message] = (await Promise.race([once(child, 'message', early), ended])) as [unknown];
    if (!isStartMessage(message) || message.kind === 'failed') throw new Error(JSON.stringify(message));
  } finally {
    early.abort();
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  if (child.connected) child.send({ kind: 'stop' });
  await exit;
}
