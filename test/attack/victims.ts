import { randomUUID } from 'node:crypto';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { seededRandom } from '#test/chaos/faults.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { differences } from '#test/support/compare-rows.ts';
import { tpchAnswers } from '#test/support/tpch-duckdb.ts';
import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';

/** Answers to the three clients of a tenant while others attacked. */
export type VictimReport = {
  /** Milliseconds of each answer. */
  readonly waits: Readonly<Record<VictimKind, readonly number[]>>;
  readonly wrong: readonly string[];
  readonly refused: readonly string[];
};
type VictimKind = 'point query' | 'TPC-H' | 'commit';

type Question = { readonly sql: string; readonly rows: readonly (readonly Json[])[] };

const POINTS = 40;
/** A client gives up after this time, which counts as a refusal. */
const PATIENCE_MS = 60_000;

/** Three clients: point queries, TPC-H and commits, each asking again as soon as it has its answer. */
export class Victims {
  readonly #cluster: Cluster;
  readonly #questions: Readonly<Record<'point query' | 'TPC-H', readonly Question[]>>;

  private constructor(cluster: Cluster, questions: Victims['questions']) {
    this.#cluster = cluster;
    this.#questions = questions;
  }

  get questions(): Readonly<Record<'point query' | 'TPC-H', readonly Question[]>> {
    return this.#questions;
  }

  static async prepare(cluster: Cluster): Promise<Victims> {
    const answers = tpchAnswers();
    try {
      const withRows = async (sql: string): Promise<Question> => ({ sql, rows: await answers.rows(sql) });
      const points = Array.from(
        { length: POINTS },
        (_, i) => `SELECT o_orderkey, o_totalprice FROM tpch.orders WHERE o_orderkey = ${i * 32 + 1}`,
      );
      const ordered = TPCH_QUERIES.map(({ sql }) => sql);
      await cluster.catalog('POST', '/v1/lake/namespaces', { namespace: ['victims'] });
      const schema = { type: 'struct', fields: [{ id: 1, name: 'a', required: false, type: 'long' }] };
      await cluster.catalog('POST', '/v1/lake/namespaces/victims/tables', { name: 'commits', schema });
      return new Victims(cluster, {
        'point query': await Promise.all(points.map(withRows)),
        'TPC-H': await Promise.all(ordered.map(withRows)),
      });
    } finally {
      await answers.close();
    }
  }

  /** Sends requests until `signal` aborts. */
  async run(signal: AbortSignal, seed: number): Promise<VictimReport> {
    const waits = { 'point query': [] as number[], 'TPC-H': [] as number[], commit: [] as number[] };
    const wrong: string[] = [];
    const refused: string[] = [];
    const sessionId = randomUUID();
    await this.#cluster.sql('USE lake.tpch', { sessionId });
    const timed = async (kind: VictimKind, act: () => Promise<string | undefined>): Promise<void> => {
      const startMs = performance.now();
      try {
        const difference = await act();
        if (difference !== undefined) wrong.push(`${kind}: ${difference}`);
      } catch (error) {
        refused.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`);
      }
      waits[kind].push(performance.now() - startMs);
    };
    const ask = async (kind: 'point query' | 'TPC-H', random: () => number): Promise<void> => {
      const questions = this.#questions[kind];
      while (!signal.aborted) {
        const { sql, rows } = must(questions[Math.floor(random() * questions.length)], 'a question');
        await timed(kind, async () => {
          const own = kind === 'TPC-H' ? { sessionId } : {};
          const { status, body } = await this.#cluster.query(sql, { ...own, signal: AbortSignal.timeout(PATIENCE_MS) });
          if (status !== 200) throw new Error(`${body.error}: ${body.message}`);
          return differences(body.rows ?? [], rows) ?? undefined;
        });
      }
    };
    const commit = async (): Promise<void> => {
      for (let i = 0; !signal.aborted; i++) await timed('commit', () => this.#commit(`${seed}-${i}`));
    };
    await Promise.all([ask('point query', seededRandom(seed)), ask('TPC-H', seededRandom(seed + 1)), commit()]);
    return { waits, wrong, refused };
  }

  /** Sets a property and reads it again. */
  async #commit(value: string): Promise<string | undefined> {
    const url = `${this.#cluster.catalogUrl}/v1/lake/namespaces/victims/tables/commits`;
    const headers = { authorization: `Bearer ${await this.#cluster.token()}`, 'content-type': 'application/json' };
    const signal = AbortSignal.timeout(PATIENCE_MS);
    const updates = [{ action: 'set-properties', updates: { value } }];
    const sent = await fetch(url, { method: 'POST', headers, signal, body: printJson({ requirements: [], updates }) });
    if (!sent.ok) throw new Error(`HTTP ${sent.status}: ${(await sent.text()).slice(0, 500)}`);
    await sent.arrayBuffer();
    const loaded = await fetch(url, { headers, signal });
    if (!loaded.ok) throw new Error(`HTTP ${loaded.status}: ${(await loaded.text()).slice(0, 500)}`);
    const { metadata } = parseJson(await loaded.text()) as {
      metadata: { properties: Readonly<Record<string, string>> };
    };
    const { value: found } = metadata.properties;
    return found === value ? undefined : `${value} was set and ${found} was read`;
  }
}
