import type { Cluster } from '#test/support/cluster.ts';
import { putStageFile } from '#test/support/stage-files.ts';
import type { Engine, EngineAnswer } from './engine.ts';

/** A real cluster over HTTP; one session, so that SET and USE last through a file. */
export class ClusterEngine implements Engine {
  readonly name = 'skein';
  readonly #cluster: Cluster;
  readonly #sessionId: string;

  constructor(cluster: Cluster, sessionId: string) {
    this.#cluster = cluster;
    this.#sessionId = sessionId;
  }

  putFile(stage: string, path: string, text: string): Promise<void> {
    return putStageFile(this.#cluster, stage, path, text);
  }

  async run(sql: string): Promise<EngineAnswer> {
    const { status, body } = await this.#cluster.query(sql, { sessionId: this.#sessionId });
    if (status === 200) return { kind: 'rows', columns: body.columns ?? [], rows: body.rows ?? [] };
    return { kind: 'error', sqlState: body.sql_state ?? null, message: `${body.error}: ${body.message}` };
  }
}
