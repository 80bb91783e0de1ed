/** Suites that are too long for every run: `.ci/run --full [PART ...]`. Each part ends within an hour on two cores. */
export type Part = {
  readonly name: string;
  readonly what: string;
  /** npm scripts with their arguments, one after another; the part passes when all do. */
  readonly scripts: readonly string[];
};

export const PARTS: readonly Part[] = [
  {
    name: 'deep',
    what: 'long suites of rooms that stand: crashes of the catalog, exchanges, simulations, the oracle, fragments, newer releases',
    scripts: [
      'test:deep -- catalog/ cli/ console/ coordinator/ shared/membership worker/ test/attack test/fuzz test/oracle test/plan test/simulation test/slt test/tpcds test/tpch test/upgrade',
    ],
  },
  {
    name: 'deep-cluster',
    what: 'long suites on clusters: random changes and transactions, kills of loads and stages, silent hosts, full disks, DML, distribution',
    scripts: ['test:deep -- test/cluster'],
  },
  {
    name: 'deep-clients',
    what: 'long suites of stores with faults, Flight over TLS by every driver, the console over kills, and statements of Postgres’ tools in other spellings',
    scripts: ['test:deep -- test/clients test/bucket test/stores shared/storage'],
  },
  {
    name: 'sieges',
    what: 'the long attacks and faults of one kind each, alone: stuck statements, workers that hang, floods of passwords, of unknown keys and at the door of Postgres, half a minute of chaos',
    scripts: ['test:sieges'],
  },
  {
    name: 'clients',
    what: 'Spark (over a bucket, too), Trino, pg8000 and connectorx, Hibernate, TypeORM, pgAdmin and Superset, Keycloak as an identity provider, TPC-DS through Skein’s printers, and TPC-H at scale 1 against plain DuckDB on 1, 2 and 3 workers',
    scripts: [
      'test:full -- test/conformance test/bucket/spark test/tpcds test/clients/postgres-loaders test/clients/java-tools test/clients/typeorm test/clients/postgres-servers test/clients/keycloak',
      'verify -- tpch --scale 1',
    ],
  },
  {
    name: 'bucket-corpus',
    what: 'the corpus of statements with all tables in a bucket, also with a cache of 8 MiB',
    scripts: ['test:bucket -- test/slt', 'test:bucket-small -- test/slt'],
  },
  {
    name: 'bucket-tpch',
    what: 'TPC-H at scale 0.01 and 1 over a bucket against plain DuckDB, also with a cache of 8 MiB',
    scripts: ['test:bucket -- test/tpch', 'test:bucket-small -- test/tpch'],
  },
  {
    name: 'bucket-writes',
    what: 'the suites of writes and stages with all tables in a bucket, also with a cache of 8 MiB',
    scripts: ['test:bucket -- test/cluster', 'test:bucket-small -- test/cluster'],
  },
  {
    name: 'gcs',
    what: 'the corpus, TPC-H at scale 0.01, and the suites of writes with all tables in an emulator of Google’s store',
    scripts: ['test:gcs -- test/slt test/tpch/tpch.test.ts', 'test:gcs -- test/cluster'],
  },
  {
    name: 'adls',
    what: 'the same in an emulator of Azure’s store',
    scripts: ['test:adls -- test/slt test/tpch/tpch.test.ts', 'test:adls -- test/cluster'],
  },
  {
    name: 'store-faults',
    what: 'reads, commits, uploads and files of stages over emulators of Google’s and Azure’s stores that refuse, cut, alter, go away, and forget keys',
    scripts: ['test:gcs-faults', 'test:adls-faults'],
  },
  {
    name: 'bucket-chaos',
    what: 'TPC-H and writes over a store with every fault at once, and over one that goes away while workers die, also with a cache of 8 MiB; the same over the two emulators',
    scripts: ['test:full -- test/bucket/chaos', 'test:gcs-chaos', 'test:adls-chaos'],
  },
  {
    name: 'tpcds',
    what: 'TPC-DS at scale 1 against plain DuckDB, every join distribution, on 2 workers',
    scripts: ['verify -- tpcds --scale 1 --workers 2'],
  },
  {
    name: 'attack',
    what: 'every served function with large arguments, each interrupted; main threads under large statements and commits; the times of refused sign-ins; a first sync of 10,000 users by SCIM, and pages of 100,000; ten minutes of one tenant against another, from a new seed',
    scripts: [
      'test:full -- test/attack catalog/principal/refusal-times catalog/scim/scim-load',
      'attack -- --minutes 10',
    ],
  },
  {
    name: 'hosts',
    what: 'every host of a cluster silent and stopped, every way between two cut in one direction, for seconds and for 75 s, under reads and writes',
    scripts: ['test:full -- test/cluster/host-faults'],
  },
  {
    name: 'kills',
    what: 'kill -9 of coordinator, catalog and workers at every point of a write, a change and a refresh; members of a cluster that come and go',
    scripts: [
      'test:full -- test/cluster/write-kills test/cluster/change-kills test/cluster/refresh-kills test/cluster/cluster-page',
    ],
  },
  { name: 'chaos', what: 'ten minutes of faults, from a new seed', scripts: ['chaos -- --minutes 10'] },
  {
    name: 'oracle',
    what: 'every served function with each type of its arguments, 5,000 random statements over random tables, and ten minutes of all random properties, from new seeds',
    scripts: ['oracle -- --runs 5000', 'properties -- --minutes 10'],
  },
  {
    name: 'fuzz',
    what: 'ten minutes of strange bytes and texts for every reader of them, from a new seed',
    scripts: ['fuzz -- --minutes 10'],
  },
  {
    name: 'reports',
    what: 'every public report of a wrong result of DuckDB that `docs/duckdb.md` lists, here and in DuckDB alone; every aggregate and window function under each remedy',
    scripts: ['test:ci -- test/slt/duckdb-reports.test.ts', 'test:full -- test/slt/duckdb-re'],
  },
  {
    name: 'console',
    what: 'the console: its budgets, tables of Spark, lists of 100,000 users and 1,000,000 audit rows, and half an hour of clicks by chance: no script fails, and the page gives its memory back',
    scripts: ['test:full -- test/clients/console catalog/principal-statement/large-lists'],
  },
  {
    name: 'one-core',
    what: 'the suites of npm test that have no bound of time, on one core: races, and time-outs that a slow machine would meet',
    scripts: ['test:one-core'],
  },
  { name: 'bench', what: 'every benchmark, against its targets', scripts: ['bench -- all'] },
];
