import { Client } from 'pg';
import { connectStore } from '#catalog/store/postgres/connect.ts';
import { CATALOG_SCHEMA } from '#catalog/store/postgres/migrations.ts';
import { migrateHistory, openHistoryDatabase } from '#coordinator/history/history-database.ts';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { migrateSchema } from '#shared/database/own-schema.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { startTestPostgres, type TestPostgres } from '../postgres.ts';

const TEMPLATE = 'migrated';
/** Several clusters and catalogs at once, each with its pools. */
const CONNECTIONS_MAX = 500;

/** Databases of one Postgres, each a copy of a template that has every migration: a suite starts without `initdb` and without migrating. */
export class RunDatabases {
  #server: Promise<TestPostgres> | undefined;
  /** Postgres copies a template for one database at a time. */
  #last: Promise<unknown> = Promise.resolve();
  #made = 0;

  async create(): Promise<{ readonly url: string }> {
    this.#server ??= startWithTemplate();
    const { url } = await this.#server;
    const name = `suite_${++this.#made}`;
    const made = this.#last.then(() => run(url, `create database ${name} template ${TEMPLATE}`));
    this.#last = made.catch(() => undefined);
    await made;
    return { url: databaseUrl(url, name) };
  }

  async drop({ url }: { readonly url: string }): Promise<void> {
    const server = await this.#server;
    if (server !== undefined) {
      await run(server.url, `drop database if exists ${new URL(url).pathname.slice(1)} with (force)`);
    }
  }

  async stop(): Promise<void> {
    await (await this.#server)?.[Symbol.asyncDispose]();
  }
}

async function startWithTemplate(): Promise<TestPostgres> {
  const server = await startTestPostgres({ connectionsMax: CONNECTIONS_MAX });
  await run(server.url, `create database ${TEMPLATE}`);
  const url = databaseUrl(server.url, TEMPLATE);
  const store = await connectStore(defaultConfig({ 'database.url': url }), silentLogger);
  await migrateSchema(store.db, CATALOG_SCHEMA);
  await store.close();
  const history = openHistoryDatabase({ url, poolMax: 1, log: silentLogger });
  await migrateHistory(history);
  await history.destroy();
  return server;
}

function databaseUrl(server: string, name: string): string {
  const url = new URL(server);
  url.pathname = `/${name}`;
  return url.href;
}

async function run(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
