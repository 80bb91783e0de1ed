import pg from 'pg';
import { must } from '#shared/must.ts';
import type { Cluster } from './cluster.ts';
import { startTestPostgres } from './postgres.ts';
import { pythonIn } from './python.ts';
import { sharedCluster } from './resources.ts';

/** The same tables in Skein and in a Postgres of the suite's own, for tools that browse both. */
export type BrowsedTables = {
  readonly cluster: Cluster;
  /** A tenant's own, in which nothing else is; its catalog has the name of the tenant, and its user `tenant_user`. */
  readonly ours: URL;
  readonly theirs: URL;
  [Symbol.asyncDispose](): Promise<void>;
};

/** Two schemas, comments, a key of one column and one of two, types of every kind, a view. */
const TABLES = `
  CREATE TABLE public.customers (id BIGINT NOT NULL, full_name TEXT NOT NULL, credit NUMERIC(12,2), born_on DATE, seen_at TIMESTAMP,
    woken_at TIMESTAMPTZ, is_kept BOOLEAN, height REAL, weight DOUBLE PRECISION, children INTEGER, face BYTEA,
    token_of UUID, labels TEXT[], scores INTEGER[], PRIMARY KEY (id));
  CREATE TABLE public.orders (order_id BIGINT NOT NULL, customer_id BIGINT NOT NULL, placed_on DATE, PRIMARY KEY (order_id));
  CREATE TABLE other.t (part_id INTEGER NOT NULL, piece_id INTEGER NOT NULL, weight_of NUMERIC(9,3), PRIMARY KEY (part_id, piece_id));
  CREATE VIEW public.order_names AS SELECT o.order_id, c.full_name FROM public.orders AS o JOIN public.customers AS c ON c.id = o.customer_id;
  COMMENT ON SCHEMA other IS 'far_away';
  COMMENT ON TABLE public.customers IS 'who_buys';
  COMMENT ON COLUMN public.customers.full_name IS 'as_written';
  COMMENT ON VIEW public.order_names IS 'names_of_orders'`;

/** Names and comments of these tables that nothing built in has. */
export const BROWSED_NAMES: readonly string[] = [
  ...[...TABLES.matchAll(/\b(?:[a-z]+_[a-z_]+|customers|orders|credit|height|children|face|labels|scores)\b/g)].map(
    ([name]) => name,
  ),
  'customers_pkey',
  'orders_pkey',
  't_pkey',
].filter((name, at, all) => all.indexOf(name) === at);

/** @param tenant its name, which no other suite has */
export async function browsedTables(tenant: string): Promise<BrowsedTables> {
  const { cluster } = await sharedCluster();
  const user = `${tenant}_user`;
  await cluster.cliOk(['admin', 'tenant', 'create', tenant, '--user', user]);
  await cluster.cliOk(['admin', 'catalog', 'create', tenant, '--tenant', tenant]);
  const ours = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  [ours.username, ours.password, ours.pathname] = [user, await cluster.token({ tenant, user }), `/${tenant}`];
  // libpq takes no `+` for a space.
  ours.search = `?options=${encodeURIComponent(`-c tenant=${tenant} -c search_path=public`)}`;
  const postgres = await startTestPostgres();
  await execute(ours.href, `CREATE SCHEMA public; CREATE SCHEMA other; ${TABLES}`);
  // Its names are those of ours.
  await execute(postgres.url, `CREATE ROLE ${user} SUPERUSER LOGIN PASSWORD '${user}'`);
  await execute(postgres.url, `CREATE DATABASE ${tenant} OWNER ${user}`);
  const theirs = new URL(postgres.url);
  [theirs.username, theirs.password, theirs.pathname] = [user, user, `/${tenant}`];
  await execute(theirs.href, `CREATE SCHEMA other; ${TABLES}`);
  return {
    cluster,
    ours,
    theirs,
    [Symbol.asyncDispose]: () => postgres[Symbol.asyncDispose](),
  };
}

async function execute(connectionString: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  await client.query(sql);
  await client.end();
}

/** Runs a script in Python that tries a tool and prints lines `part, feature, outcome`, with tabs. @returns the outcomes of each part */
export async function toolOutcomes(
  environment: 'tools' | 'dbt' | 'pgadmin' | 'superset',
  script: string,
  url: string,
): Promise<Readonly<Record<string, Readonly<Record<string, string>>>>> {
  const outcomes: Record<string, Record<string, string>> = {};
  for (const line of (await pythonIn(environment, script, url)).split('\n').filter((one) => one.includes('\t'))) {
    const [part = '', feature = '', outcome = ''] = line.split('\t');
    (outcomes[part] ??= {})[feature] = outcome;
  }
  return outcomes;
}

/** The outcomes of features that all work. */
export const allOk = (features: readonly string[]): Readonly<Record<string, string>> =>
  Object.fromEntries(features.map((feature) => [feature, 'ok']));
