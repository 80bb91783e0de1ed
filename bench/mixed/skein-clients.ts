import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { AdminClients } from '#test/support/admin-clients.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { KeepAliveClient } from '../http/keep-alive-client.ts';
import { processTable, servicesOf, treeSeconds } from '../report/process-cpu.ts';
import { KINDS, type Kind } from './mixed-queries.ts';
import type { Ask } from './run-clients.ts';

/** A group for each kind of clients, so that the cluster says what each has taken of the slots. */
export const MIXED_WORKLOAD = `resource_groups:
  - name: root
    hard_concurrency_limit: 100
    max_queued_queries: 5000
    groups:
${KINDS.map((kind) => `      - {name: ${kind}, hard_concurrency_limit: 100, max_queued_queries: 5000}`).join('\n')}
routing_rules:
${KINDS.map((kind) => `  - {match_source: ${kind}, target_group: root.${kind}}`).join('\n')}
`;

/** CPU seconds since the begin of the cluster: on slots by the group of each kind, and of all its processes. */
export type Cpu = { readonly slots: Readonly<Record<Kind, number>>; readonly all: number };

const PAGE = 500;
/** Time for the last records of the history to get there. */
const HISTORY_WAIT_MS = 3_000;

/** Clients of a cluster's HTTP API, whose queries are kept account of. */
export class SkeinClients implements Disposable {
  readonly #cluster: Cluster;
  readonly #http: Readonly<Record<Kind, KeepAliveClient>>;
  readonly #sessions: Readonly<Record<Kind, string>>;
  /** Ids of the queries that were answered. */
  readonly #answered = new Set<string>();
  /** Attempts that ended without an answer: the coordinator was gone. */
  broken = 0;

  private constructor(cluster: Cluster, tokens: Readonly<Record<Kind, string>>) {
    this.#cluster = cluster;
    const client = (kind: Kind): KeepAliveClient => new KeepAliveClient(cluster.queryUrl, tokens[kind]);
    this.#http = { interactive: client('interactive'), medium: client('medium'), batch: client('batch') };
    this.#sessions = { interactive: randomUUID(), medium: randomUUID(), batch: randomUUID() };
  }

  /** Each kind of clients is a user of its own. */
  static async open(cluster: Cluster): Promise<SkeinClients> {
    const accounts = new AdminClients(cluster);
    const token = async (kind: Kind): Promise<string> => {
      const name = `${kind}-${randomUUID()}`;
      return accounts.tokenOf(
        await accounts.admin('create', name, '--scope', 'catalog:read namespace:read table:read'),
      );
    };
    const clients = new SkeinClients(cluster, {
      interactive: await token('interactive'),
      medium: await token('medium'),
      batch: await token('batch'),
    });
    await clients.#useSchema();
    return clients;
  }

  [Symbol.dispose](): void {
    for (const kind of KINDS) this.#http[kind].close();
  }

  /** Sessions end with the coordinator. */
  async #useSchema(): Promise<void> {
    for (const kind of KINDS) {
      await this.#http[kind].post(JSON.stringify({ sql: 'USE lake.tpch' }), {
        'x-skein-session': this.#sessions[kind],
      });
    }
  }

  /** Asks a query. @param persistently whether it is asked again when no coordinator answers */
  asking(persistently = false): Ask {
    return async (kind, sql) => {
      for (;;) {
        const id = randomUUID();
        const headers = { 'x-skein-session': this.#sessions[kind], 'x-skein-source': kind, 'x-skein-query-id': id };
        try {
          await this.#http[kind].post(JSON.stringify({ sql }), headers);
          this.#answered.add(id);
          return;
        } catch (error) {
          if (!persistently) throw error;
          this.broken += 1;
          await sleep(200);
          await this.#useSchema().catch(() => undefined);
        }
      }
    };
  }

  async cpu(): Promise<Cpu> {
    const rows = await this.#cluster.sql('SHOW RESOURCE GROUPS');
    const of = (kind: Kind): number =>
      Number(rows.find(([path]) => typeof path === 'string' && path.endsWith(kind))?.at(-1) ?? 0) / 1_000;
    const all = await processTable();
    const services = await servicesOf(this.#cluster);
    return {
      slots: { interactive: of('interactive'), medium: of('medium'), batch: of('batch') },
      all: services.reduce((sum, { pid }) => sum + treeSeconds(all, pid), 0),
    };
  }

  /** Most memory that the coordinator has had, in bytes. */
  async coordinatorBytes(): Promise<number> {
    const pid = (await servicesOf(this.#cluster)).find(({ kind }) => kind === 'coordinator')?.pid ?? 0;
    const [, kilobytes = ''] = /^VmHWM:\s+(\d+) kB$/m.exec(await readFile(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) * 1_024;
  }

  /** How many of the answered queries the history does not have as completed. */
  async missingInHistory(): Promise<number> {
    await sleep(HISTORY_WAIT_MS);
    const missing = new Set(this.#answered);
    const headers = { authorization: `Bearer ${await this.#cluster.token()}` };
    for (let offset = 0, count = PAGE; count === PAGE; offset += PAGE) {
      const url = `${this.#cluster.queryUrl}/api/query-history?status=completed&limit=${PAGE}&offset=${offset}`;
      const records = (await (await fetch(url, { headers })).json()) as readonly { readonly queryId: string }[];
      for (const { queryId } of records) missing.delete(queryId);
      count = records.length;
    }
    return missing.size;
  }

  get answered(): number {
    return this.#answered.size;
  }
}
