import { must } from '#shared/must.ts';
import type { PreparedStatement } from '../../../session/prepared-statement.ts';
import { printSqlType } from '../../../plan/sql-type.ts';
import type { StatementDescription } from '../../../operation/description.ts';
import { PARAMETERS_MAX } from '../../../statement/parameters.ts';
import { isInsertOfOneRow } from '../../../command/bound-insert.ts';
import type { BoundValue, InsertBatch } from './insert-batch.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import { Portals } from './portals.ts';
import { castParameters, castTypes } from '../text/cast-parameters.ts';
import { oidOf } from '../message/postgres-type.ts';
import { declaredType, readParameter } from './read-parameter.ts';
import { formatsOf } from './rows-sink.ts';
import * as messages from '../message/server-messages.ts';
import type { PortalExecution, Statements } from './statements.ts';
import { protocolViolation, WireError } from '../message/wire-error.ts';
import type { MessageBody } from '../message/wire-reader.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** Longest text, in characters, that is looked at whether it inserts one row. */
const ONE_ROW_MAX = 64 * 1024;

/** Codes of the forms in which values come. */
const TEXT_FORM = 0;
const BINARY_FORM = 1;

/** Types of texts that clients declare: text, bpchar, varchar, and unknown. */
const TEXTS: ReadonlySet<number> = new Set([25, 1042, 1043, 705]);
const NO_CASTS: ReadonlyMap<number, string> = new Map();
/** Whether a parameter that is declared so has the type to which it is cast: a text, or one without a type. */
const takesCast = (oid: number): boolean => oid === 0 || TEXTS.has(oid);

type Prepared = {
  /** The whole text of Parse. */
  readonly text: string;
  /** The statement in it; empty when there is none. */
  readonly sql: string;
  readonly offset: number;
  readonly description: StatementDescription | null;
  /** Numbers of the types of parameters: as declared, else as the statement takes them. */
  readonly oids: readonly number[];
  /** The types of parameters whose texts are values of the type to which the statement casts them (`castTypes`). */
  readonly casts: ReadonlyMap<number, string>;
  /** It is an INSERT of one row, executions of which may become one. */
  readonly insertsOneRow: boolean;
};

export type ExtendedParts = {
  readonly writer: WireWriter;
  readonly inserts: InsertBatch;
  readonly portalsMax: number;
  readonly memory: ConnectionMemory;
};

/** The extended protocol of one connection: prepared statements and portals by their names (the empty one is used again and again). */
export class Extended {
  readonly #statements: Statements;
  readonly #writer: WireWriter;
  readonly #inserts: InsertBatch;
  /** Messages that waited when the first execution was put off. */
  #mark = 0;
  /** Those with a name are the session's, so that EXECUTE and DEALLOCATE know them, and Bind those of PREPARE. */
  readonly #parsed = new WeakMap<PreparedStatement, Prepared>();
  /** The one without a name. */
  #unnamed: Prepared | undefined;
  readonly #portals: Portals;

  constructor(statements: Statements, { writer, inserts, portalsMax, memory }: ExtendedParts) {
    this.#statements = statements;
    this.#writer = writer;
    this.#inserts = inserts;
    this.#portals = new Portals(statements, writer, { portalsMax, memory });
  }

  /** Portals end with their transaction. */
  synced(): void {
    this.#portals.synced();
  }

  /** A simple Query comes: it ends what has no name. */
  queried(): void {
    this.#unnamed = undefined;
    this.#portals.close('');
  }

  /** To be called before a statement of a Query runs. @returns whether it was answered here @throws WireError, StatementError, SkeinError */
  beforeStatement(statement: MessageStatement, place: PortalExecution['place']): Promise<boolean> {
    return this.#portals.beforeStatement(statement, place);
  }

  /** Runs the executions that wait for others. Their answers are sent only when they are right. @throws WireError, StatementError, SkeinError */
  async runWaiting(place: PortalExecution['place']): Promise<void> {
    if (this.#inserts.isEmpty) return;
    try {
      await this.#inserts.run(place);
    } catch (error) {
      this.#writer.takeBack(this.#mark);
      throw error;
    }
  }

  /** A message has failed; those before it run first. @returns the first error */
  async failed(error: unknown): Promise<unknown> {
    try {
      await this.runWaiting('others follow');
      return error;
    } catch (earlier) {
      return earlier;
    }
  }

  async parse(body: MessageBody): Promise<void> {
    const name = body.text();
    const text = body.text();
    const declared = body.list(() => body.int32());
    body.end();
    if (name === '') this.#unnamed = undefined;
    else if (this.#statements.prepared(name) !== undefined) {
      throw new WireError('42P05', `prepared statement "${name}" already exists`);
    }
    const [first, second] = await this.#statements.texts.split(text);
    if (second !== undefined) throw new WireError('42601', 'a prepared statement is one statement');
    const { sql, offset } = first ?? { sql: '', offset: 0 };
    const casts = castTypes(sql);
    const count = Math.max(declared.length, ...[...casts.keys()].map((i) => i + 1));
    const known = Array.from({ length: count }, (_, i) => {
      const oid = declared[i] ?? 0;
      return (takesCast(oid) ? casts.get(i) : undefined) ?? declaredType(oid) ?? '';
    });
    const types = await this.#withTypesOfLists(sql, known);
    const description = sql === '' ? null : await this.#statements.describe({ sql, text, offset }, types);
    const oids = oidsOf(sql, description, declared);
    const insertsOneRow = description?.kind === 'count' && sql.length <= ONE_ROW_MAX && isInsertOfOneRow(sql);
    const prepared = { text, sql, offset, description, oids, casts, insertsOneRow };
    if (name === '') this.#unnamed = prepared;
    else
      this.#parsed.set(
        this.#statements.keepPrepared(name, { sql, types, description, besides: text.length }),
        prepared,
      );
    this.#writer.push(messages.parseComplete());
  }

  /** The types of parameters, with those of lists that nobody has declared (`anyLists`). @param types empty: unknown */
  async #withTypesOfLists(sql: string, types: readonly string[]): Promise<readonly string[]> {
    const lists = await this.#statements.texts.anyLists(sql);
    const unknown = (lists?.numbers ?? []).filter((i) => !types[i]);
    if (lists === undefined || unknown.length === 0) return types;
    try {
      const description = await this.#statements.describe({ sql: lists.sql, text: lists.sql, offset: 0 }, types);
      const found = unknown.map((i) => [i, description.parameters[i]?.type] as const);
      const count = Math.max(types.length, ...unknown.map((i) => i + 1));
      const all = Array.from({ length: count }, (_, i) => types[i] ?? '');
      for (const [i, type] of found) if (type?.kind === 'list') all[i] = printSqlType(type);
      return all;
    } catch {
      // Its own description tells what is wrong with the statement.
      return types;
    }
  }

  async bind(body: MessageBody): Promise<void> {
    const name = body.text();
    const prepared = await this.#find(body.text());
    const formats = body.list(() => body.int16());
    const values = body.list(() => {
      const length = body.int32();
      return length < 0 ? null : body.take(length);
    });
    const resultFormats = body.list(() => body.int16());
    body.end();
    const { oids, casts, description } = prepared;
    if (values.length !== oids.length) {
      throw protocolViolation(`the statement has ${oids.length} parameters, and ${values.length} came`);
    }
    if (values.length > PARAMETERS_MAX) throw new WireError('54023', `at most ${PARAMETERS_MAX} parameters`);
    requireFormats(formats, values.length, 'parameters');
    if (description?.kind === 'rows' && description.columns !== null) {
      requireFormats(resultFormats, description.columns.length, 'columns');
    }
    const forms = formatsOf(formats, values.length);
    const unknown = forms.find((form) => form !== TEXT_FORM && form !== BINARY_FORM);
    if (unknown !== undefined) throw new WireError('22023', `unsupported format code: ${unknown}`);
    const bound = (description?.parameters ?? []).map(({ type }, i): BoundValue => {
      const oid = oids[i] ?? 0;
      const isCast = takesCast(oid) && casts.has(i);
      return {
        bytes: values[i] ?? null,
        oid,
        // The bytes of a text are the same in both forms.
        isBinary: forms[i] === BINARY_FORM && !isCast,
        type: (isCast ? undefined : declaredType(oid)) ?? printSqlType(type),
      };
    });
    const parameters = bound.map(readParameter);
    const given = parameters.length === 0 ? null : ({ kind: 'positional', values: parameters } as const);
    const { text, sql, offset } = prepared;
    const statement = { text, sql, offset };
    const insert = prepared.insertsOneRow ? { statement, parameters: given, values: bound } : null;
    this.#portals.bind(name, {
      statement,
      description,
      parameters: given,
      formats: resultFormats,
      insert,
      bytes: body.length,
    });
    this.#writer.push(messages.bindComplete());
  }

  async describe(body: MessageBody): Promise<void> {
    const { kind, name } = takeTarget(body, 'Describe');
    if (kind === 'P') {
      this.#portals.describe(name);
      return;
    }
    const prepared = await this.#find(name);
    this.#writer.push(messages.parameterDescription(prepared.oids));
    this.#portals.pushColumns(prepared.description, []);
  }

  /** @param place whether a Sync follows at once */
  async execute(body: MessageBody, place: 'before Sync' | 'others follow'): Promise<void> {
    const name = body.text();
    const rowsMax = body.int32();
    body.end();
    const insert = place === 'others follow' || !this.#inserts.isEmpty ? this.#portals.takeInsert(name) : null;
    if (insert === null) {
      await this.runWaiting('others follow');
      await this.#portals.execute(name, rowsMax, place);
      return;
    }
    if (!this.#inserts.takes(insert)) await this.runWaiting('others follow');
    if (this.#inserts.isEmpty) this.#mark = this.#writer.waiting;
    this.#inserts.add(insert);
    this.#writer.push(messages.commandComplete('INSERT 0 1'));
    if (place === 'before Sync' || this.#inserts.isFull) await this.runWaiting(place);
  }

  close(body: MessageBody): void {
    const { kind, name } = takeTarget(body, 'Close');
    if (kind === 'P') this.#portals.close(name);
    else if (name === '') this.#unnamed = undefined;
    else this.#statements.forgetPrepared(name);
    this.#writer.push(messages.closeComplete());
  }

  /** @throws WireError, StatementError */
  async #find(name: string): Promise<Prepared> {
    const kept = name === '' ? undefined : this.#statements.prepared(name);
    const found = kept === undefined ? this.#unnamed : this.#parsed.get(kept);
    if (name === '' ? found === undefined : kept === undefined) {
      throw new WireError('26000', `prepared statement "${name}" does not exist`);
    }
    return found ?? this.#described(must(kept, 'one of PREPARE has a name'));
  }

  /** A statement of PREPARE as Parse would have it. */
  async #described(kept: PreparedStatement): Promise<Prepared> {
    const { sql, parameters } = kept;
    const types = parameters.map(({ declared }) => declared ?? '');
    const at = { sql, text: sql, offset: 0 };
    const description = await this.#statements.describe(at, types);
    const insertsOneRow = description.kind === 'count' && sql.length <= ONE_ROW_MAX && isInsertOfOneRow(sql);
    const oids = oidsOf(sql, description, []);
    const prepared = { ...at, description, oids, casts: NO_CASTS, insertsOneRow };
    this.#parsed.set(kept, prepared);
    return prepared;
  }
}

/** Reads what Describe and Close are about: a prepared statement or a portal, by its name. @throws WireError */
function takeTarget(body: MessageBody, message: string): { readonly kind: 'S' | 'P'; readonly name: string } {
  const kind = body.take(1).toString('latin1');
  const name = body.text();
  body.end();
  if (kind !== 'S' && kind !== 'P') throw protocolViolation(`${message} is about no ${JSON.stringify(kind)}`);
  return { kind, name };
}

/** Forms are said of none, of all at once, or of each. @throws WireError */
function requireFormats(formats: readonly number[], count: number, of: string): void {
  if (formats.length <= 1 || formats.length === count) return;
  throw protocolViolation(`${formats.length} format codes came for ${count} ${of}`);
}

/** The numbers of the types of parameters: as the client declares them, else as the statement takes them. */
function oidsOf(sql: string, description: StatementDescription | null, declared: readonly number[]): readonly number[] {
  const casts = castParameters(sql);
  return (description?.parameters ?? []).map(({ type }, i) => declared[i] || (casts.get(i) ?? oidOf(type)));
}
