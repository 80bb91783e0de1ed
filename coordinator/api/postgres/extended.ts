import { SkeinError } from '#shared/error.ts';
import { printSqlType } from '../../plan/sql-type.ts';
import type { StatementDescription } from '../../operation/description.ts';
import { PARAMETERS_MAX } from '../../statement/parameters.ts';
import { oidOf, postgresColumn } from './postgres-type.ts';
import { declaredType, readParameter } from './read-parameter.ts';
import { formatsOf } from './rows-sink.ts';
import * as messages from './server-messages.ts';
import { splitStatements } from './split-statements.ts';
import type { Statements } from './statements.ts';
import { protocolViolation, WireError } from './wire-error.ts';
import type { MessageBody } from './wire-reader.ts';
import type { WireWriter } from './wire-writer.ts';

type Prepared = {
  /** The whole text of Parse. */
  readonly text: string;
  /** The statement in it; empty when there is none. */
  readonly sql: string;
  readonly offset: number;
  readonly description: StatementDescription | null;
  /** Numbers of the types of parameters: as declared, else as the statement takes them. */
  readonly oids: readonly number[];
};

type Portal = {
  readonly prepared: Prepared;
  readonly parameters: Parameters<Statements['run']>[0]['parameters'];
  readonly formats: readonly number[];
};

export type ExtendedLimits = { readonly statementsMax: number; readonly bytesMax: number };

/** The extended protocol of one connection: prepared statements and portals by their names (the empty one is used again and again). */
export class Extended {
  readonly #statements: Statements;
  readonly #writer: WireWriter;
  readonly #limits: ExtendedLimits;
  readonly #prepared = new Map<string, Prepared>();
  readonly #portals = new Map<string, Portal>();

  constructor(statements: Statements, writer: WireWriter, limits: ExtendedLimits) {
    this.#statements = statements;
    this.#writer = writer;
    this.#limits = limits;
  }

  /** Portals end with their transaction. */
  synced(): void {
    if (this.#statements.state === 'I') this.#portals.clear();
  }

  async parse(body: MessageBody): Promise<void> {
    const name = body.text();
    const text = body.text();
    const declared = body.list(() => body.int32());
    if (name !== '' && this.#prepared.has(name)) throw new WireError('42P05', `prepared statement "${name}" exists`);
    this.#prepared.delete(name);
    const [first, second] = splitStatements(text);
    if (second !== undefined) throw new WireError('42601', 'a prepared statement is one statement');
    const { sql, offset } = first ?? { sql: '', offset: 0 };
    this.#reserve(text);
    // The engine takes declared types when all of them have a name there.
    const names = declared.map(declaredType);
    const types = names.every((known) => known !== undefined) ? names : [];
    const description = sql === '' ? null : await this.#statements.describe({ sql, text, offset }, types);
    const oids = (description?.parameters ?? []).map(({ type }, i) => declared[i] || oidOf(type));
    this.#prepared.set(name, { text, sql, offset, description, oids });
    this.#writer.push(messages.parseComplete());
  }

  bind(body: MessageBody): void {
    const name = body.text();
    const prepared = this.#find(body.text());
    const formats = body.list(() => body.int16());
    const values = body.list(() => {
      const length = body.int32();
      return length < 0 ? null : body.take(length);
    });
    const resultFormats = body.list(() => body.int16());
    const { oids, description } = prepared;
    if (values.length !== oids.length) {
      throw protocolViolation(`the statement has ${oids.length} parameters, and ${values.length} came`);
    }
    if (values.length > PARAMETERS_MAX) throw new WireError('54023', `at most ${PARAMETERS_MAX} parameters`);
    if (name !== '' && this.#portals.has(name)) throw new WireError('42P03', `portal "${name}" exists`);
    if (this.#portals.size >= this.#limits.statementsMax) throw new WireError('54000', 'too many portals');
    const forms = formatsOf(formats, values.length);
    const parameters = (description?.parameters ?? []).map(({ type }, i) =>
      readParameter(values[i] ?? null, { oid: oids[i] ?? 0, format: forms[i] ?? 0, type: printSqlType(type) }),
    );
    const given = parameters.length === 0 ? null : ({ kind: 'positional', values: parameters } as const);
    this.#portals.set(name, { prepared, parameters: given, formats: resultFormats });
    this.#writer.push(messages.bindComplete());
  }

  describe(body: MessageBody): void {
    const kind = body.take(1).toString();
    const name = body.text();
    if (kind === 'P') {
      const { prepared, formats } = this.#portal(name);
      this.#pushColumns(prepared, formats);
      return;
    }
    const prepared = this.#find(name);
    this.#writer.push(messages.parameterDescription(prepared.oids));
    this.#pushColumns(prepared, []);
  }

  /** @param place whether a Sync follows at once */
  async execute(body: MessageBody, place: 'before Sync' | 'others follow'): Promise<void> {
    const { prepared, parameters, formats } = this.#portal(body.text());
    const rowsMax = body.int32();
    const { sql, text, offset } = prepared;
    if (sql === '') {
      this.#writer.push(messages.emptyQuery());
      return;
    }
    if (rowsMax > 0) {
      throw new SkeinError('NOT_SUPPORTED', 'portals give all their rows at once: a limit of rows is not supported');
    }
    await this.#statements.run({ sql, text, offset, parameters, formats, describes: false, place });
  }

  close(body: MessageBody): void {
    const kind = body.take(1).toString();
    const name = body.text();
    (kind === 'P' ? this.#portals : this.#prepared).delete(name);
    this.#writer.push(messages.closeComplete());
  }

  #pushColumns({ description }: Prepared, given: readonly number[]): void {
    if (description === null || description.kind !== 'rows') {
      this.#writer.push(messages.noData());
      return;
    }
    const { columns } = description;
    if (columns === null) {
      throw new SkeinError('NOT_SUPPORTED', 'the columns of this statement depend on its values: use simple queries');
    }
    this.#writer.push(messages.rowDescription(columns.map(postgresColumn), formatsOf(given, columns.length)));
  }

  #find(name: string): Prepared {
    const prepared = this.#prepared.get(name);
    if (prepared === undefined) throw new WireError('26000', `prepared statement "${name}" does not exist`);
    return prepared;
  }

  #portal(name: string): Portal {
    const portal = this.#portals.get(name);
    if (portal === undefined) throw new WireError('34000', `portal "${name}" does not exist`);
    return portal;
  }

  /** @throws WireError when the connection has too much prepared */
  #reserve(text: string): void {
    const bytes = this.#prepared.values().reduce((sum, { text: one }) => sum + one.length, text.length);
    if (this.#prepared.size >= this.#limits.statementsMax || bytes > this.#limits.bytesMax) {
      throw new WireError('54000', 'the connection has too many prepared statements');
    }
  }
}
