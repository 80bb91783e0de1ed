import type { Action } from '#shared/authorization/action.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { withNamePosition } from '../operation/with-name-position.ts';
import { printStage } from '../stage/stage-reference.ts';
import type { Unload } from '../operation/unload.ts';
import type { ExplainFormat, ExplainOptions } from '../operation/explain-options.ts';
import type { Description } from '../operation/description.ts';
import type { Command } from './command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import type { Outcome } from '../operation/outcome.ts';
import { copyInto } from './copy/copy-into.ts';
import { deleteFrom } from './delete-from.ts';
import { insert } from './insert.ts';
import { THRESHOLD_BYTES } from './maintenance/optimize.ts';
import { optimizeTable } from './maintenance/optimize-table.ts';
import { merge } from './merge.ts';
import { qualify } from '../operation/qualify.ts';
import { createTable } from './table/create-table.ts';
import { update } from './update.ts';

/** The statements that write rows. */
const WRITES = { insert, delete: deleteFrom, update, merge, createTable, optimizeTable, copyInto } as const;
type Writes = typeof WRITES;
type Kind = keyof Writes;
type Write = {
  readonly [K in Kind]: { readonly kind: K; readonly input: ReturnType<Writes[K]['parse']> };
}[Kind];

/** A write as EXPLAIN reads it. */
export type ExplainedWrite = Write & { readonly action: Action | null };

/** A statement that writes rows; null when another begins here. @throws as its own parser, NOT_SUPPORTED for a CREATE TABLE without rows */
export function takeWrite(reader: StatementReader): ExplainedWrite | null {
  const kinds = Object.keys(WRITES) as Kind[];
  const kind = kinds.find((one) => WRITES[one].words.some((phrase) => reader.peekPhrase(phrase)));
  if (kind === undefined) return null;
  const command: Command = WRITES[kind];
  const refusal = reader.error('NOT_SUPPORTED', 'CREATE TABLE is explained with AS and a query');
  const write = { kind, input: command.parse(reader) } as Write;
  if (write.kind === 'createTable' && !('query' in write.input.shape)) throw refusal;
  return { ...write, action: command.action(write.input) };
}

/** The types of its parameters. */
export function describeExplained(
  write: ExplainedWrite,
  context: CommandContext,
): Promise<Pick<Description, 'parameters'>> {
  const { queries, writes } = context;
  if (write.kind === 'optimizeTable') return Promise.resolve({ parameters: new Map() });
  if (write.kind === 'copyInto') {
    return 'unload' in write.input
      ? queries.describe(write.input.unload.query)
      : Promise.resolve({ parameters: new Map() });
  }
  if (write.kind !== 'createTable') return writes.describe(write);
  const { shape } = write.input;
  return 'query' in shape ? queries.describe(shape.query) : Promise.resolve({ parameters: new Map() });
}

/** The lines of its plan, of its sink and of its commit. Nothing is written. */
export async function explainInput(
  write: ExplainedWrite,
  options: ExplainOptions,
  context: CommandContext,
): Promise<readonly string[]> {
  if (write.kind === 'optimizeTable') {
    const { name, call } = write.input;
    const table = await withNamePosition(name, qualify(name, context));
    const where = await context.queries.prove((take) => take('expression', call.where));
    const done = context.writes.optimize({ table, where, thresholdBytes: THRESHOLD_BYTES, dryRun: true });
    const { rewrittenFiles, removedDeleteFiles, addedFiles } = await withNamePosition(name, done);
    const sink = [table.catalog, ...table.namespace, table.table].join('.');
    if (options.format === 'json') {
      const rewrite = { files: rewrittenFiles, delete_files: removedDeleteFiles };
      return [printJson({ rewrite, sink: { table: sink, files: addedFiles }, commit: { operation: 'replace' } }, 2)];
    }
    return [
      `Rewrite: ${rewrittenFiles} data files, ${removedDeleteFiles} delete files`,
      `Sink: ${sink}, at least ${addedFiles} data files`,
      'Commit: replace',
    ];
  }
  if (write.kind === 'copyInto') {
    return 'unload' in write.input
      ? explainUnload(write.input.unload, options, context)
      : context.writes.explainCopy(write.input.copy, options);
  }
  if (write.kind !== 'createTable') return context.writes.explain(write, options);
  const { name, shape, orReplace } = write.input;
  if (!('query' in shape)) return [];
  const lines = await context.queries.explain(shape.query, options);
  const operation = orReplace ? 'create or replace' : 'create';
  const table = name.parts.join('.');
  if (options.format === 'json') {
    const plan = parseJson(lines.join('\n')) as JsonObject;
    return [printJson({ ...plan, sink: { table }, commit: { operation } }, 2)];
  }
  return [...lines, '', `Sink: ${table}`, `Commit: ${operation} the table with one snapshot`];
}

async function explainUnload(
  input: Unload,
  options: ExplainOptions,
  { queries }: CommandContext,
): Promise<readonly string[]> {
  const lines = await queries.explain(input.query, options);
  if (options.format === 'text') return [...lines, '', `Sink: ${printSink(input)}`];
  return [printJson({ ...(parseJson(lines.join('\n')) as JsonObject), sink: sinkJson(input) }, 2)];
}

/** Where the files of an unload go. */
const sinkJson = ({ stage, format }: Unload) => ({
  stage: printStage(stage),
  path: stage.path,
  format: format.kind,
  compression: format.compression,
});

function printSink(input: Unload): string {
  const { stage, path, format, compression } = sinkJson(input);
  return `${stage}/${path}, ${format}, compression ${compression}`;
}

/** Runs the statement. @returns the profiles of its queries, its sink and its commit; its own answer, also that of RETURNING, goes nowhere */
export async function analyzeWrite(
  write: ExplainedWrite,
  format: ExplainFormat,
  context: CommandContext,
): Promise<Outcome & { readonly lines: readonly string[] }> {
  const { kind, input } = write;
  const { queries, writes } = context;
  const profiles = queries.profileAll(format);
  const observed = writes.observe();
  const command: Command = WRITES[kind];
  const nothing = (): Promise<Outcome> => Promise.resolve({ rowsProduced: 0, bytesScanned: 0, fragments: 0 });
  const silent = 'returning' in input ? { ...input, returning: null } : input;
  let unloaded: Readonly<Record<string, number>> = {};
  const answerNumbers: CommandContext['answerNumbers'] = (numbers) => {
    unloaded = numbers;
    return nothing();
  };
  const outcome = await command.run(silent, { ...context, answer: nothing, answerCount: nothing, answerNumbers });
  const unload = write.kind === 'copyInto' && 'unload' in write.input ? write.input.unload : null;
  if (format === 'text') {
    const facts = Object.entries(unloaded).map(([name, value]) => `${name}=${value}`);
    const done = unload !== null ? [`Sink: ${printSink(unload)}`, `   ${facts.join(' ')}`] : observed.lines();
    return { ...outcome, lines: [...profiles.flatMap((lines) => [...lines, '']), ...done] };
  }
  const documents = profiles.map((lines) => parseJson(lines.join('\n')));
  const done = unload !== null ? { sink: { ...sinkJson(unload), ...unloaded } } : observed.json();
  return { ...outcome, lines: [printJson({ queries: documents, ...done }, 2)] };
}
