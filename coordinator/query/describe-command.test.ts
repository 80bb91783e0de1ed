import { expect, test } from 'vitest';
import type { Command } from '../command/command.ts';
import { COMMANDS } from '../command/commands.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { parseStatement } from '../prepare/parse-statement.ts';
import { COUNT_COLUMNS } from '../sink/made-rows.ts';
import { describeCommand } from './describe-command.ts';

const INTEGER = { kind: 'scalar', name: 'INTEGER' } as const;
const query = {
  columns: [{ name: 'a', typeName: 'INTEGER', type: INTEGER }],
  parameters: new Map([['1', INTEGER]]),
};
/** A context in which nothing can run: queries and writes are described. */
const context = {
  session: { settings: new Map(), prepared: new Map() },
  config: {},
  queries: { describe: () => Promise.resolve(query) },
  writes: { describe: () => Promise.resolve({ kind: 'count', columns: COUNT_COLUMNS, parameters: query.parameters }) },
} as unknown as CommandContext;

async function describe(sql: string): Promise<readonly [kind: string, columns: string | null, parameters: number]> {
  const { command: name, input } = parseStatement(sql, { bytesMax: 10_000, depthMax: 100 });
  const command: Command = COMMANDS[name];
  const { form, parameters } = await describeCommand(command, input, context);
  const columns = form.kind === 'rows' && form.columns !== null ? form.columns.map(({ name }) => name).join() : null;
  return [form.kind, columns, parameters.size];
}

test.each([
  ['SELECT 1', 'rows', 'a', 1],
  ['EXPLAIN SELECT 1', 'rows', 'plan', 1],
  ['DESCRIBE SELECT 1', 'rows', 'col_name,data_type,nullable,default', 1],
  ['INSERT INTO t VALUES (1)', 'count', null, 1],
  ['UPDATE t SET a = 1', 'count', null, 1],
  ['DELETE FROM t', 'count', null, 1],
  ['CREATE TABLE t (a INTEGER)', 'nothing', null, 0],
  ['CREATE TABLE t AS SELECT 1', 'count', null, 1],
  ['CREATE MATERIALIZED VIEW v AS SELECT 1', 'count', null, 1],
  ['REFRESH MATERIALIZED VIEW v', 'count', null, 0],
  ['DROP TABLE t', 'nothing', null, 0],
  ['ALTER TABLE t RENAME TO u', 'nothing', null, 0],
  ['ALTER TABLE t EXECUTE optimize', 'rows', 'metric_name,metric_value', 0],
  ['OPTIMIZE t', 'rows', 'metric_name,metric_value', 0],
  ['ANALYZE t', 'rows', 'column_name,distinct_count', 0],
  ['SET skein.query_timeout = 1', 'nothing', null, 0],
  ['BEGIN', 'nothing', null, 0],
  ['REMOVE @s', 'count', null, 0],
  ['COPY INTO t FROM @s', 'rows', 'file,status,rows_parsed,rows_loaded,errors_seen,first_error,first_error_line', 0],
  ['COPY INTO @s FROM t', 'rows', 'rows_unloaded,input_bytes,output_bytes', 1],
])('%s answers %s', async (sql, kind, columns, parameters) => {
  expect(await describe(sql)).toEqual([kind, columns, parameters]);
});

/** Statements that answer their status and nothing else. */
const WITH_STATUS = new Set(
  `prepare execute deallocate declare close set reset discard listen use killQuery transactionControl savepoint commentOn createCatalog alterCatalog dropCatalog createSchema alterSchema dropSchema dropTable
  undropTable truncateTable createView dropView alterView dropMaterializedView createStage alterStage dropStage createPolicy dropPolicy setPolicyBody setPolicyBody`.split(
    /\s+/,
  ),
);

test.each(Object.entries(COMMANDS))(
  '%s says what it answers, or is one of those with a status only',
  (name, command) => {
    const says = ['answers', 'formOf', 'describe', 'rows'].some((member) => member in command);
    expect(says).toBe(!WITH_STATUS.has(name));
  },
);
