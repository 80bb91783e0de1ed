import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '#test/support/cluster.ts';

/** Answers to a client that takes no part in an attack. */
export type Seen = { readonly answers: number; readonly slowestMs: number; readonly failures: readonly string[] };

const STATEMENTS = ['SELECT 1', 'SELECT o_totalprice FROM tpch.orders WHERE o_orderkey = 7'];
const PAUSE_MS = 50;

/** Another client, which asks small questions one after the other until it is stopped. */
export class Bystander {
  readonly #cluster: Cluster;
  readonly #failures: string[] = [];
  readonly #done: Promise<void>;
  #answers = 0;
  #slowestMs = 0;
  #isStopped = false;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#done = this.#ask();
  }

  async stop(): Promise<Seen> {
    this.#isStopped = true;
    await this.#done;
    return { answers: this.#answers, slowestMs: Math.round(this.#slowestMs), failures: this.#failures };
  }

  async #ask(): Promise<void> {
    for (let i = 0; !this.#isStopped; i++) {
      const start = performance.now();
      const { status, body } = await this.#cluster.query(STATEMENTS[i % STATEMENTS.length] ?? '');
      this.#answers++;
      this.#slowestMs = Math.max(this.#slowestMs, performance.now() - start);
      if (status !== 200) this.#failures.push(`${status} ${body.error}: ${body.message}`);
      await sleep(PAUSE_MS);
    }
  }
}
