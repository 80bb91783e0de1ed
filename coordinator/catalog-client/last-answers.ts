import { LRUCache } from 'lru-cache';
import type { Principal } from '#shared/authorization/principal.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { must } from '#shared/must.ts';
import { sameCredential } from '#shared/storage/credential.ts';
import {
  tableKey,
  type LoadedTable,
  type LoadedView,
  type RecalledTables,
  type TableName,
} from '../resolver/table-source.ts';
import type { AnswerLease, AskedAt } from './answer-lease.ts';
import type { ViewDefinition } from '../resolver/view/view-definition.ts';

type FoundTable = Extract<LoadedTable, { kind: 'found' }>;
/** A table or view without its document, which the catalog client keeps by its version. */
type Described = Omit<FoundTable, 'metadata'> | Omit<LoadedView, 'view'>;
type Answer = {
  readonly table: Described;
  /** The answer before this one was the same: likely, so will be the next. */
  readonly isSteady: boolean;
  /** Null: it was asked for without a lease. */
  readonly asked: AskedAt | null;
};

/** Returns the document of this version, if it is still kept. */
type DocumentOf = (tenant: string, name: TableName, version: string) => TableMetadata | ViewDefinition | undefined;

/** Tables whose last answer is kept, over all principals. */
const ANSWERS_MAX = 10_000;

/**
 * What the catalog last answered to each principal of a table. While the lease on an answer lasts, that is so; otherwise most likely, and a
 * statement begins with it while it asks.
 */
export class LastAnswers {
  readonly #answers = new LRUCache<string, Answer>({ max: ANSWERS_MAX });
  readonly #documentOf: DocumentOf;
  readonly #lease: Pick<AnswerLease, 'holds'>;
  /** The claims of a token are one object for as long as it is in use. */
  readonly #principals = new WeakMap<Principal, number>();
  #known = 0;

  constructor(lease: Pick<AnswerLease, 'holds'>, documentOf: DocumentOf) {
    this.#lease = lease;
    this.#documentOf = documentOf;
  }

  /** Keeps what the catalog answered just now to a question of `asked`. */
  keep(
    { principal, names, asked }: { principal: Principal; names: readonly TableName[]; asked: AskedAt | null },
    tables: readonly LoadedTable[],
  ): void {
    for (const [i, table] of tables.entries()) {
      const key = this.#keyOf(principal, must(names[i], 'one answer for each name'));
      if (table.kind === 'missing') this.#answers.delete(key);
      else {
        const before = this.#answers.get(key)?.table;
        const isSteady = before !== undefined && isSame(before, table);
        this.#answers.set(key, { table: described(table), isSteady, asked });
      }
    }
  }

  /**
   * The tables as they last were, which `ask` says again where the lease does not; null unless each was so twice, and its document is here.
   */
  recall(
    principal: Principal,
    names: readonly TableName[],
    ask: () => Promise<readonly LoadedTable[]>,
  ): RecalledTables | null {
    const answers = names.map((name) => this.#answers.get(this.#keyOf(principal, name)));
    const tables = this.#withDocuments(principal, names, answers);
    if (tables === null) return null;
    if (answers.every((answer) => this.#lease.holds(answer?.asked ?? null))) return { tables, areCurrent: true };
    const areCurrent = ask().then((now) => tables.every((table, i) => isSame(table, now[i])));
    return { tables, areCurrent };
  }

  #withDocuments(
    { tenant }: Principal,
    names: readonly TableName[],
    answers: readonly (Answer | undefined)[],
  ): readonly LoadedTable[] | null {
    const tables: LoadedTable[] = [];
    for (const [i, name] of names.entries()) {
      const answer = answers[i];
      if (answer?.isSteady !== true) return null;
      const document = this.#documentOf(tenant, name, answer.table.version);
      const table = document === undefined ? null : withDocument(answer.table, document);
      if (table === null) return null;
      tables.push(table);
    }
    return tables;
  }

  #keyOf(principal: Principal, name: TableName): string {
    const known = this.#principals.get(principal) ?? (this.#known += 1);
    this.#principals.set(principal, known);
    return `${known}/${tableKey(name)}`;
  }
}

function described(table: FoundTable | LoadedView): Described {
  if (table.kind === 'view') {
    const { view: _view, ...rest } = table;
    return rest;
  }
  const { metadata: _metadata, ...rest } = table;
  return rest;
}

function withDocument(table: Described, document: TableMetadata | ViewDefinition): LoadedTable | null {
  const isView = 'representations' in document;
  if (table.kind === 'view') return isView ? { ...table, view: document } : null;
  return isView ? null : { ...table, metadata: document };
}

/** Whether a table is what it was, and the principal may do with it what it might. */
function isSame(before: LoadedTable | Described, now: LoadedTable | Described | undefined): boolean {
  if (before.kind === 'missing' || now === undefined || now.kind === 'missing') return false;
  const isAlike =
    before.kind === now.kind &&
    before.version === now.version &&
    tableKey(before.name) === tableKey(now.name) &&
    before.actions.size === now.actions.size &&
    [...before.actions].every((action) => now.actions.has(action));
  if (!isAlike || before.kind === 'view' || now.kind === 'view') return isAlike;
  return (
    before.policyVersion === now.policyVersion &&
    before.policies.length === now.policies.length &&
    sameCredential(before.credential, now.credential) &&
    before.allowedRoots.join('\0') === now.allowedRoots.join('\0')
  );
}
