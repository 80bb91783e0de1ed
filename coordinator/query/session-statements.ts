import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { requireAction } from '../auth/authenticate.ts';
import type { Argument, Definition, Execution, PreparedStatements } from '../operation/prepared-statements.ts';
import type { Command } from '../command/command.ts';
import type { Outcome } from '../operation/outcome.ts';
import { COMMANDS, type Statement } from '../command/commands.ts';
import { preparedStatement, type PreparedStatement, type QueryColumn } from '../session/prepared-statement.ts';
import { requirePreparedRoom, withoutPrepared, withPrepared, type SessionState } from '../session/session.ts';
import { applyEdits, valuePlaces, type ParameterEdit } from '../statement/bind-parameters.ts';
import { PARAMETERS_MAX, sizeOf, type Constant, type Parameters } from '../statement/parameters.ts';
import { READ_STATEMENT, type StatementText } from '../prepare/read-statement.ts';
import type { TextSpan } from '../statement/statement.ts';
import { beginCommand } from './begin-command.ts';
import { describeCommand } from './describe-command.ts';
import type { StatementDescription } from '../operation/description.ts';
import { inSource, placeIn } from './error-place.ts';
import { makeCommandContext } from './make-command-context.ts';
import type { CheckColumns } from './statement-parts.ts';
import type { RunningStatement } from './running-statement.ts';

/** The prepared statements of a statement's session. */
export const sessionStatements = (running: RunningStatement): PreparedStatements => new SessionStatements(running);

/**
 * Says what a statement answers, and of which types its parameters are, without running it. Every statement can be described, also those that
 * cannot be prepared. @param types those of `$1`, `$2`, ... as far as they are declared @throws what it is refused for, with its place
 */
export const describeStatement = (running: RunningStatement, types: readonly string[]): Promise<StatementDescription> =>
  new SessionStatements(running).describeAny(running.request.sql, types);

class SessionStatements implements PreparedStatements {
  readonly #running: RunningStatement;

  constructor(running: RunningStatement) {
    this.#running = running;
  }

  async prepare(definition: Definition): Promise<PreparedStatement> {
    const { name } = definition;
    const { services, request } = this.#running;
    this.#checkFree(this.#session(), definition);
    const { statement, types } = definition;
    const { parameters, columns } = await this.#describe(statement, types);
    const prepared = preparedStatement({ name, sql: statement.text, parameters, columns });
    services.sessions.store.update(request.session, (now) => {
      this.#checkFree(now, definition);
      return withPrepared(now, prepared, services.config);
    });
    return prepared;
  }

  async execute({ name, position, arguments: given }: Execution): Promise<Outcome> {
    const { active } = this.#running;
    const prepared = this.#session().prepared.get(name);
    if (prepared === undefined) throw unknown(name, position);
    const values = await this.#values(given);
    const parameters = matched(prepared, { given, values, position });
    const { redacted, edits, parsed } = await this.#read(prepared.sql, parameters);
    active.mask(redacted);
    try {
      if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
      const { command, input } = this.#allowed(parsed.statement);
      const running = { ...this.#running, values: valuePlaces(edits) };
      beginCommand(running, parsed.statement);
      const isQuery = command === COMMANDS.query;
      const checkColumns: CheckColumns = (now) => this.#checkColumns(prepared, now);
      const context = { prepared: this, command, isQuery, ...(isQuery ? { checkColumns } : {}) };
      return await command.run(input, makeCommandContext(running, context));
    } catch (thrown) {
      throw placed(SkeinError.of(thrown), { prepared, edits, given, position });
    }
  }

  deallocate(name: string | null, position: number): void {
    const { services, request } = this.#running;
    if (name !== null && !this.#session().prepared.has(name)) throw unknown(name, position);
    services.sessions.store.update(request.session, (now) => withoutPrepared(now, name));
  }

  /** The session as it is now. @throws NOT_SUPPORTED without a session of its own: that of a token is for settings only */
  #session(): SessionState {
    const { services, request } = this.#running;
    if (request.session.kind === 'named') return services.sessions.store.get(request.session);
    throw new SkeinError('NOT_SUPPORTED', 'prepared statements need a session: send the header X-Skein-Session');
  }

  /** @throws PREPARED_STATEMENT_EXISTS, TOO_MANY_PREPARED_STATEMENTS */
  #checkFree(state: SessionState, { name, position }: Definition): void {
    if (state.prepared.has(name)) {
      throw new SkeinError('PREPARED_STATEMENT_EXISTS', `the prepared statement ${quoted(name)} exists already`, {
        position,
      });
    }
    requirePreparedRoom(state, this.#running.services.config);
  }

  async describeAny(sql: string, types: readonly string[]): Promise<StatementDescription> {
    const { edits, parsed } = await this.#readAny(sql, types);
    try {
      if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
      const { command: name, input } = parsed.statement;
      const command: Command = COMMANDS[name];
      const action = command.action(input);
      if (action !== null) requireAction(this.#running.request.caller, action);
      const names = namesOf(edits, types);
      const used = new Set(edits.map((edit) => edit.name));
      if (name === 'execute') return { ...(await this.#describeExecute(input)), parameters: names.map(textParameter) };
      const context = makeCommandContext({ ...this.#running, values: valuePlaces(edits) }, { prepared: this, command });
      const { form, parameters } = await describeCommand(command, input, context);
      return {
        ...form,
        tag: command.tag ?? command.words[0] ?? '',
        parameters: names.map((own) => ({ name: own, type: parameters.get(own) ?? VARCHAR, isUsed: used.has(own) })),
      };
    } catch (thrown) {
      throw inSource(SkeinError.of(thrown), sql, edits);
    }
  }

  /** The statement that it executes. */
  async #describeExecute({ name, position }: Execution): Promise<StatementDescription> {
    const prepared = this.#session().prepared.get(name);
    if (prepared === undefined) throw unknown(name, position);
    return this.describeAny(
      prepared.sql,
      prepared.parameters.flatMap(({ declared }) => declared ?? []),
    );
  }

  /** Reads a statement without values: with NULL in the place of each parameter, else with a text or a number, where its grammar wants one. */
  async #readAny(sql: string, types: readonly string[]): Promise<StatementText> {
    const first = await this.#read(sql, { kind: 'unknown', types });
    if (first.parsed.kind !== 'refused' || first.edits.length === 0) return first;
    for (const literal of ["''", '1']) {
      const other = await this.#read(sql, { kind: 'unknown', types, literal });
      if (other.parsed.kind !== 'refused') return other;
    }
    return first;
  }

  /** The statement's command, when it can be prepared and the caller may run it. @throws NOT_SUPPORTED, FORBIDDEN */
  #allowed({ command: name, input }: Statement): { readonly command: Command; readonly input: Statement['input'] } {
    const command: Command = COMMANDS[name];
    if (command.describe === undefined) {
      throw new SkeinError('NOT_SUPPORTED', `${command.words[0]} cannot be prepared`, { position: 0 });
    }
    const action = command.action(input);
    if (action !== null) requireAction(this.#running.request.caller, action);
    return { command, input };
  }

  /** Checks a statement before its parameters have values. @throws what it is refused for, with its place in the statement around it */
  async #describe({ text, offset }: TextSpan, types: readonly string[]): Promise<Described> {
    const { edits, parsed } = await this.#read(text, { kind: 'unknown', types });
    try {
      if (parsed.kind === 'refused') throw SkeinError.fromData(parsed.error);
      const { command, input } = this.#allowed(parsed.statement);
      const used = new Set(edits.map(({ name }) => name));
      const names = namesOf(edits, types);
      const running = { ...this.#running, values: valuePlaces(edits) };
      const context = makeCommandContext(running, { prepared: this, command });
      const described = await command.describe?.(input, context);
      const { columns, parameters } = must(described, 'it can be prepared');
      return {
        columns,
        parameters: names.map((name) => ({
          name,
          isUsed: used.has(name),
          declared: types[Number(name) - 1] ?? null,
          type: parameters.get(name) ?? null,
        })),
      };
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      if (error.position === undefined) throw error;
      throw error.at(offset + applyEdits(text, edits).toSource(error.position));
    }
  }

  /** @throws NOT_SUPPORTED when the columns of a prepared statement depend on tables that have changed */
  async #checkColumns(prepared: PreparedStatement, now: readonly QueryColumn[]): Promise<void> {
    const { columns: before, sql, parameters } = prepared;
    if (before === null || sameColumns(before, now)) return;
    // Types may depend on those of the values.
    const types = parameters.flatMap(({ declared }) => declared ?? []);
    const again = await this.#describe({ text: sql, offset: 0 }, types);
    if (again.columns !== null && sameColumns(before, again.columns)) return;
    throw new SkeinError('NOT_SUPPORTED', 'cached plan must not change result type: DEALLOCATE and PREPARE it again');
  }

  /** Values as constants; expressions are evaluated once, all together. */
  async #values(given: readonly Argument[]): Promise<readonly Constant[]> {
    const expressions = given.flatMap(({ constant, expression }) => (constant === undefined ? [expression] : []));
    if (expressions.length === 0) return given.map(({ constant }) => constant ?? null);
    const { queries } = makeCommandContext(this.#running, { prepared: this, command: COMMANDS.execute });
    const literals = [
      ...(await queries.constants(await queries.prove((take) => expressions.map((one) => take('expression', one))))),
    ];
    return given.map(({ constant }) =>
      constant === undefined ? { literal: must(literals.shift(), 'a value for each expression') } : constant,
    );
  }

  #read(sql: string, parameters: Parameters): Promise<StatementText> {
    const { services, request, active } = this.#running;
    const { config, texts } = services;
    const limits = {
      bytesMax: config['coordinator.statement_bytes_max'],
      depthMax: config['coordinator.statement_depth_max'],
    };
    const { tenant, sub: principal } = request.caller.claims;
    const about = {
      asker: { tenant, principal },
      what: 'the prepared statement',
      bytes: Buffer.byteLength(sql) + sizeOf(parameters),
      signal: active.signal,
    };
    return texts.work(READ_STATEMENT, { sql, parameters, limits }, about);
  }
}

type Described = Pick<PreparedStatement, 'columns' | 'parameters'>;

const quoted = (name: string): string => JSON.stringify(name);

const unknown = (name: string, position: number): SkeinError =>
  new SkeinError('PREPARED_STATEMENT_NOT_FOUND', `the prepared statement ${quoted(name)} does not exist`, { position });

const isNumber = (name: string): boolean => /^\d/.test(name);

/**
 * The parameters of a statement: `$1` to the highest number, also those that it does not name, or its names.
 * @throws NOT_SUPPORTED for both in one, SYNTAX_ERROR for types of names, STATEMENT_TOO_COMPLEX
 */
function namesOf(edits: readonly ParameterEdit[], types: readonly string[]): readonly string[] {
  const names = [...new Set(edits.map(({ name }) => name))];
  const highest = names.reduce((most, name) => (isNumber(name) ? Math.max(most, Number(name)) : most), types.length);
  if (highest > PARAMETERS_MAX || names.length > PARAMETERS_MAX) {
    throw new SkeinError('STATEMENT_TOO_COMPLEX', `a statement has at most ${PARAMETERS_MAX} parameters`);
  }
  if (highest === 0) return names;
  const named = edits.find(({ name }) => !isNumber(name));
  if (named !== undefined) {
    throw new SkeinError('NOT_SUPPORTED', `parameters with names and with numbers or types do not mix: $${named.name}`);
  }
  return Array.from({ length: highest }, (_, i) => String(i + 1));
}

type Given = { readonly given: readonly Argument[]; readonly values: readonly Constant[]; readonly position: number };

/**
 * The values for the parameters of a prepared statement, cast to the types that they are declared with.
 * @throws SYNTAX_ERROR for a wrong number of them, UNDEFINED_PARAMETER for one that the statement does not have
 */
function matched({ name, parameters }: PreparedStatement, { given, values, position }: Given): Parameters {
  const known = new Map(parameters.map((parameter) => [parameter.name, parameter]));
  const bound = new Map<string, Constant>();
  given.forEach(({ name: written, expression }, i) => {
    const key = written === null ? String(i + 1) : foldIdentifier(written);
    if (written !== null && !known.has(key)) {
      throw new SkeinError('UNDEFINED_PARAMETER', `the prepared statement ${quoted(name)} has no parameter $${key}`, {
        position: expression.offset,
      });
    }
    bound.set(key, values[i] ?? null);
  });
  const isComplete = given.length === parameters.length && parameters.every((parameter) => bound.has(parameter.name));
  if (!isComplete) {
    const wants = parameters
      .map((parameter) => `$${parameter.name}`)
      .slice(0, NAMES_SHOWN)
      .join(', ');
    const message = `wrong number of parameters for the prepared statement ${quoted(name)}: it has ${parameters.length}`;
    throw new SkeinError('SYNTAX_ERROR', `${message}${wants === '' ? '' : ` (${wants})`}, given are ${given.length}`, {
      position,
    });
  }
  return {
    kind: 'named',
    values: parameters
      .filter((one) => one.isUsed)
      .map((one) => [one.name, { type: one.declared, value: bound.get(one.name) ?? null }]),
  };
}

const VARCHAR = { kind: 'scalar', name: 'VARCHAR' } as const;
const textParameter = (name: string): StatementDescription['parameters'][number] => ({ name, type: VARCHAR });

const NAMES_SHOWN = 10;

const sameColumns = (one: readonly QueryColumn[], other: readonly QueryColumn[]): boolean =>
  one.length === other.length &&
  one.every(({ name, typeName }, i) => other[i]?.name === name && other[i]?.typeName === typeName);

type Place = {
  readonly prepared: PreparedStatement;
  readonly edits: readonly ParameterEdit[];
  readonly given: readonly Argument[];
  readonly position: number;
};

/** An error of a prepared statement: its place is said in words, and points at the value that it is about or at the statement's name. */
function placed(error: SkeinError, { prepared, edits, given, position }: Place): SkeinError {
  if (error.position === undefined) return error;
  const source = applyEdits(prepared.sql, edits).toSource(error.position);
  const value = edits.find(({ start }) => start === source)?.name;
  const argument = given.find(({ name }, i) => (name ?? String(i + 1)) === value);
  const message = `${error.message} (${placeIn(prepared.sql, source)} of the prepared statement ${quoted(prepared.name)})`;
  return error.at(argument?.expression.offset ?? position, message);
}
