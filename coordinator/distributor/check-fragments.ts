import { createHash } from 'node:crypto';
import type { SqlText } from '#shared/task/sql-text.ts';
import type { StatementContext } from '#shared/sql/statement-context.ts';
import { cutText } from '#shared/cut-text.ts';
import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import type { Logger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import type { Fragment, WholePlan } from './fragment.ts';
import type { PlanMemory } from '../binding/plan-memory.ts';
import type { Planner, PrintedText } from '../binding/planner.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';
import { sqlFields, type TableBinding } from '../binding/table-binding.ts';

/** The query that the fragments belong to, and its user. */
export type CheckedQuery = {
  /** The memory of the plan before distribution: the results of its fragments' checks are kept there. */
  readonly memory: Pick<PlanMemory, 'checks'>;
  /** The query's scans, indexed by the numbers in `Fragment.scans`. */
  readonly scans: readonly TableBinding[];
  readonly context: StatementContext;
  readonly contextual: boolean;
  readonly asker: Asker;
  readonly signal: AbortSignal;
};

/** `tooComplex` is not remembered: a planner with less load may well bind the same fragments. */
type Bound =
  | { readonly kind: 'bound'; readonly refusals: readonly (string | null)[] }
  | { readonly kind: 'tooComplex'; readonly why: string };

/**
 * Fragments of one plan whose check result is kept. Planning again between stages makes new fragments, perhaps with new constants each
 * time.
 */
const KEPT_PER_PLAN_MAX = 500;
/** A refused fragment's text in the log is cut here. */
const LOGGED_SQL_BYTES_MAX = 32 * 1024;

/**
 * Has a planner bind the fragments of a query before any of their tasks starts. A fragment that DuckDB refuses is a fault of the SQL
 * printer: the query runs whole, the text is logged, and `onRefused` counts it. All fragments of a plan are one request, and one that was
 * bound before is not bound again.
 */
export class FragmentChecker {
  readonly #planner: Planner;
  readonly #log: Logger;
  readonly #onRefused: () => void;

  constructor(planner: Planner, log: Logger, onRefused: () => void) {
    this.#planner = planner;
    this.#log = log;
    this.#onRefused = onRefused;
  }

  /** @returns why the query runs whole, or null. @throws QUEUE_FULL, QUERY_CANCELLED and the signal's reason */
  async check(fragments: readonly Fragment[], query: CheckedQuery): Promise<WholePlan | null> {
    const known = query.memory.checks;
    const wanted = new Map(fragments.map((fragment) => [digestOf(fragment), fragment]));
    const added = [...wanted].filter(([digest]) => !known.has(digest));
    if (added.length > 0) {
      const asked = added.map(([, fragment]) => fragment);
      const bound = await this.#bind(asked, query);
      if (bound.kind === 'tooComplex') return this.#whole(bound.why);
      for (const [i, [digest]] of added.entries()) known.set(digest, bound.refusals[i] ?? null);
    }
    const refused = [...wanted.keys()].map((digest) => known.get(digest)).find((why) => typeof why === 'string');
    for (const digest of known.keys()) if (known.size > KEPT_PER_PLAN_MAX) known.delete(digest);
    return refused === undefined || refused === null ? null : this.#whole(refused);
  }

  #whole(why: string): WholePlan {
    this.#onRefused();
    return { kind: 'whole', reason: `DuckDB does not bind a fragment of it: ${why}` };
  }

  /** Records that a worker refused a fragment although the planner had bound it. */
  refusedByWorker(fragment: Pick<Fragment, 'sql'>, why: string): void {
    this.#onRefused();
    this.#logRefusal(fragment, why);
  }

  async #bind(fragments: readonly Fragment[], query: CheckedQuery): Promise<Bound> {
    const { planner, texts, scans } = { planner: this.#planner, ...textsOf(fragments, query.scans) };
    const { context, contextual, asker, signal } = query;
    try {
      const refusals = await planner.bind({ texts, scans, context, contextual }, asker, signal);
      for (const [i, why] of refusals.entries()) {
        if (why !== null) this.#logRefusal(must(fragments[i], 'an answer for each fragment'), why);
      }
      return { kind: 'bound', refusals };
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      if (error.code !== 'STATEMENT_TOO_COMPLEX') throw error;
      for (const fragment of fragments) this.#logRefusal(fragment, error.message);
      return { kind: 'tooComplex', why: error.message };
    }
  }

  #logRefusal({ sql }: Pick<Fragment, 'sql'>, why: string): void {
    this.#log.error(
      { sql: cutText(textOf(sql), LOGGED_SQL_BYTES_MAX), why },
      'DuckDB does not bind a printed fragment',
    );
  }
}

const typesOf = (fields: readonly SqlField[]): readonly string[] => fields.map(({ type }) => printSqlType(type));

/** Type of the last column of a fragment with more than one partition. */
const PARTITION_TYPE = 'UINTEGER';

function printedText({ sql, inputs, fields, partitions }: Fragment): PrintedText {
  return {
    sql,
    inputs: inputs.map((input) => typesOf(input.fields)),
    gives: [...typesOf(fields), ...(partitions > 1 ? [PARTITION_TYPE] : [])],
  };
}

/** The texts of the fragments, with one numbering of scans for all of them. */
function textsOf(
  fragments: readonly Fragment[],
  bindings: readonly TableBinding[],
): { readonly texts: readonly PrintedText[]; readonly scans: readonly (readonly SqlField[])[] } {
  const numbers = [...new Set(fragments.flatMap(({ scans }) => scans.map(({ scan }) => scan)))];
  const texts = fragments.map((fragment): PrintedText => {
    const renumbered = fragment.sql.map((part) =>
      typeof part !== 'string' && 'scan' in part
        ? { scan: numbers.indexOf(must(fragment.scans[part.scan], 'a fragment names its scans').scan) }
        : part,
    );
    return { ...printedText(fragment), sql: renumbered };
  });
  const scans = numbers.map((number) => sqlFields(must(bindings[number], 'a fragment reads scans of the query')));
  return { texts, scans };
}

const digestOf = (fragment: Fragment): string =>
  createHash('sha256')
    .update(JSON.stringify([printedText(fragment), fragment.scans.map(({ scan }) => scan)]))
    .digest('base64');

const textOf = (sql: SqlText): string =>
  sql
    .map((part) => (typeof part === 'string' ? part : 'scan' in part ? `{scan ${part.scan}}` : `{input ${part.input}}`))
    .join('');
