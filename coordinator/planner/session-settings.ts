import type { DuckDBConnection } from '@duckdb/node-api';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { needsJoinOrder } from '#shared/sql/unsound-optimizers.ts';
import { blankContext, contextVariablesSql } from '#shared/sql/statement-context.ts';

const OTHER_OPTIMIZERS = "SELECT string_agg(name, ',') FROM duckdb_optimizers() WHERE name <> 'join_order'";

/** The settings of a planner for a statement. The last statement may have been another tenant's: none of its context remains. */
export class SessionSettings {
  readonly #planning: DuckDBConnection;
  readonly #binder: DuckDBConnection;
  #context: readonly string[] = [];
  /** The optimizers that are off. */
  #disabled = '';
  #ordersJoins = false;

  constructor(planning: DuckDBConnection, binder: DuckDBConnection) {
    this.#planning = planning;
    this.#binder = binder;
  }

  /** The setting holds for all connections of the instance. */
  async disableOptimizers(wanted: string): Promise<void> {
    if (wanted === this.#disabled) return;
    await this.#planning.run(`SET disabled_optimizers = '${wanted}'`);
    this.#disabled = wanted;
  }

  /** The connection that binds has no optimizer, but for a text that cannot do without (`needsJoinOrder`). */
  async optimizeBinding(sql: string): Promise<void> {
    const wanted = needsJoinOrder(sql);
    if (wanted !== this.#ordersJoins) await this.#binder.run(`PRAGMA ${wanted ? 'enable' : 'disable'}_optimizer`);
    this.#ordersJoins = wanted;
    if (!wanted) return;
    const others = await this.#binder.runAndReadAll(OTHER_OPTIMIZERS);
    await this.disableOptimizers(String(others.getRows()[0]?.[0]));
  }

  async setContext(context: StatementContext, contextual: boolean): Promise<void> {
    const wanted = contextVariablesSql(contextual ? context : blankContext(context.timeZone));
    const changed = wanted.filter((sql, i) => sql !== this.#context[i]);
    if (changed.length === 0) return;
    // If a SET below fails, the connection's settings are unknown.
    this.#context = [];
    const sql = changed.join('; ');
    await this.#planning.run(sql);
    await this.#binder.run(sql);
    this.#context = wanted;
  }
}
