import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { parseCommand } from '../../../prepare/parse-statement.ts';
import type { Statement } from '../../../command/commands.ts';
import type { StatementDescription } from '../../../operation/description.ts';
import type { OutputColumn } from '../../../sink/result-sink.ts';
import type { ConnectionMemory } from '../message/connection-memory.ts';
import type { BoundInsert } from './insert-batch.ts';
import type { MessageStatement } from '../message/message-statement.ts';
import { postgresColumn } from '../message/postgres-type.ts';
import { formatsOf } from './rows-sink.ts';
import * as messages from '../message/server-messages.ts';
import { controlWord } from '../text/split-statements.ts';
import type { PortalExecution, Statements } from './statements.ts';
import { WireError } from '../message/wire-error.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** A statement with its values, which runs when it is executed. */
type Portal = {
  readonly statement: MessageStatement;
  readonly description: StatementDescription | null;
  readonly parameters: PortalExecution['parameters'];
  readonly formats: readonly number[];
  /** Null = it does not insert one row. */
  readonly insert: BoundInsert | null;
  /** `transactionsEnded` when it was bound: it ends with the next. */
  readonly boundAt: number;
  /** Length of the message that has its values. */
  readonly bytes: number;
  hasRun: boolean;
};

type Place = PortalExecution['place'];

/** Longest text, in characters, that is looked at whether it names a portal. */
const COMMAND_MAX = 32 * 1024;

const CURSOR_COMMANDS: ReadonlySet<string> = new Set(['DECLARE', 'FETCH', 'MOVE', 'CLOSE']);

/**
 * The portals of one connection. One of which a part of the rows was taken is a cursor of the session, and cursors are portals: both have
 * one namespace. Names are compared without case, as those of statements.
 */
export class Portals {
  readonly #statements: Statements;
  readonly #writer: WireWriter;
  readonly #max: number;
  readonly #memory: ConnectionMemory;
  readonly #portals = new Map<string, Portal>();
  /** Those that were made cursors outside of a transaction, which therefore end with the Sync. */
  readonly #opened = new Set<string>();

  constructor(
    statements: Statements,
    writer: WireWriter,
    { portalsMax, memory }: { readonly portalsMax: number; readonly memory: ConnectionMemory },
  ) {
    this.#statements = statements;
    this.#writer = writer;
    this.#max = portalsMax;
    this.#memory = memory;
  }

  /** Portals end with their transaction. */
  synced(): void {
    if (this.#statements.state !== 'I') return;
    for (const name of this.#opened) this.#statements.cursors.close(name);
    this.#opened.clear();
    this.#forgetAll();
  }

  /** @throws WireError when there is one of this name: the unnamed one makes room */
  bind(given: string, portal: Omit<Portal, 'boundAt' | 'hasRun'>): void {
    const name = foldIdentifier(given);
    if (name === '') this.close('');
    else if (this.#find(name) !== undefined || this.#statements.cursors.find(name) !== undefined) throw exists(given);
    if (this.#portals.size >= this.#max) throw new WireError('54000', 'too many portals');
    this.#memory.take(portal.bytes);
    this.#portals.set(name, { ...portal, boundAt: this.#statements.transactionsEnded, hasRun: false });
  }

  /** @throws WireError */
  describe(given: string): void {
    const name = foldIdentifier(given);
    const portal = this.#find(name);
    if (portal !== undefined) return this.pushColumns(portal.description, portal.formats);
    const cursor = this.#statements.cursors.find(name);
    if (cursor === undefined) throw missing(given);
    this.#pushRows(cursor.columns, []);
  }

  pushColumns(description: StatementDescription | null, formats: readonly number[]): void {
    if (description === null || description.kind !== 'rows') {
      this.#writer.push(messages.noData());
      return;
    }
    if (description.columns === null) {
      throw new SkeinError('NOT_SUPPORTED', 'the columns of this statement depend on its values: use simple queries');
    }
    this.#pushRows(description.columns, formats);
  }

  /** @param rowsMax 0 = all @throws WireError, StatementError, SkeinError */
  async execute(given: string, rowsMax: number, place: Place): Promise<void> {
    const name = foldIdentifier(given);
    const portal = this.#find(name);
    const rows = rowsMax > 0 ? rowsMax : 'all';
    if (this.#statements.cursors.find(name) !== undefined) return this.#fetch(name, rows, portal?.formats ?? []);
    if (portal === undefined) throw missing(given);
    const { statement, description, parameters, formats } = portal;
    if (statement.sql === '') {
      this.#writer.push(messages.emptyQuery());
      return;
    }
    if (portal.hasRun) return this.#again(given, description);
    if (await this.beforeStatement(statement, place)) return;
    portal.hasRun = true;
    if (rows === 'all' || description?.kind !== 'rows') {
      return this.#statements.run({ ...statement, parameters, formats, describes: false, place });
    }
    await this.#open(name, portal, place);
    await this.#fetch(name, rows, formats);
  }

  /** The insert of a portal that has not run, and is taken to have run now; null for another. */
  takeInsert(given: string): BoundInsert | null {
    const portal = this.#find(foldIdentifier(given));
    if (portal === undefined || portal.hasRun || this.#statements.state === 'E') return null;
    if (portal.insert !== null) portal.hasRun = true;
    return portal.insert;
  }

  /** Forgets a portal and the cursor that it is; nothing happens when there is none. */
  close(given: string): void {
    const name = foldIdentifier(given);
    this.#forget(name);
    this.#opened.delete(name);
    this.#statements.cursors.close(name);
  }

  /**
   * To be called before a statement runs: one about a cursor may mean a portal that has not run, of which the engine does not know.
   * @returns whether the statement was answered here
   */
  async beforeStatement({ sql }: MessageStatement, place: Place): Promise<boolean> {
    const isShort = sql.length <= COMMAND_MAX;
    if (this.#portals.size === 0 || !isShort || !CURSOR_COMMANDS.has(controlWord(sql))) return false;
    const read = parsed(sql);
    if (
      read?.command !== 'declare' &&
      read?.command !== 'fetch' &&
      read?.command !== 'move' &&
      read?.command !== 'close'
    ) {
      return false;
    }
    const { command, input } = read;
    if (input === null) {
      this.#forgetAll();
      return false;
    }
    const name = foldIdentifier(input.name);
    const portal = this.#find(name);
    if (portal === undefined) return false;
    const isCursor = this.#statements.cursors.find(name) !== undefined;
    if (command === 'declare') throw exists(name);
    if (command === 'close') {
      this.#forget(name);
      if (!isCursor) this.#writer.push(messages.commandComplete('CLOSE CURSOR'));
      return !isCursor;
    }
    if (!isCursor && portal.description?.kind === 'rows') {
      portal.hasRun = true;
      await this.#open(name, portal, place === 'last of its Query' ? 'others follow' : place);
    }
    return false;
  }

  async #open(name: string, { statement, parameters }: Portal, place: Place): Promise<void> {
    await this.#statements.open(name, { ...statement, parameters, place });
    if (this.#statements.state === 'I') this.#opened.add(name);
  }

  async #fetch(name: string, rows: number | 'all', formats: readonly number[]): Promise<void> {
    if (await this.#statements.fetch(name, { rows, formats })) this.#writer.push(messages.portalSuspended());
  }

  /** A portal that has given all its rows gives none; any other cannot run twice. */
  #again(name: string, description: StatementDescription | null): void {
    if (description?.kind !== 'rows') throw new WireError('55000', `portal "${name}" cannot be run`);
    this.#writer.push(messages.commandComplete(`${description.tag} 0`));
  }

  #pushRows(columns: readonly OutputColumn[], formats: readonly number[]): void {
    this.#writer.push(messages.rowDescription(columns.map(postgresColumn), formatsOf(formats, columns.length)));
  }

  #find(name: string): Portal | undefined {
    const portal = this.#portals.get(name);
    if (portal === undefined || portal.boundAt === this.#statements.transactionsEnded) return portal;
    this.#forget(name);
    return undefined;
  }

  #forget(name: string): void {
    this.#memory.give(this.#portals.get(name)?.bytes ?? 0);
    this.#portals.delete(name);
  }

  #forgetAll(): void {
    for (const name of this.#portals.keys()) this.#forget(name);
  }
}

const exists = (name: string): WireError => new WireError('42P03', `cursor "${name}" already exists`);
const missing = (name: string): WireError => new WireError('34000', `portal "${name}" does not exist`);

/** The statement; undefined when it cannot be read, which its run tells. */
function parsed(sql: string): Statement | undefined {
  try {
    return parseCommand({ text: sql, offset: 0 });
  } catch {
    return undefined;
  }
}
