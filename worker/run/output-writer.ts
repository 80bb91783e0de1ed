import type { OutputSpec, WriteSink } from '#shared/task/task.ts';
import { ArrowForm, ArrowWriter, schemaMessage } from '../duckdb/arrow-out.ts';
import type { Instance } from '../duckdb/instance.ts';
import type { ResultWords } from '../duckdb/library.ts';
import { PartitionWriter } from '../duckdb/partition-writer.ts';
import type { TaskOutput } from './task-output.ts';
import type { OutputWriter } from '../duckdb/chunk-writer.ts';

/** An output of rows; files are written by DuckDB. */
export type RowsOutput = Exclude<OutputSpec, WriteSink>;

/** Sends the schema and returns the writer for the kind of output. @throws what `PartitionWriter` throws */
export function openWriter(result: ResultWords, to: RowsOutput, output: TaskOutput, instance: Instance): OutputWriter {
  // Streamed batches are passed on to a client unchanged.
  const form =
    to.kind === 'stream'
      ? new ArrowForm(result, instance.plainArrow())
      : ArrowForm.exact(result, () => instance.arrowWithoutViews());
  try {
    if (to.kind === 'spool' && to.partitions > 1) return divided(result, form, to.partitions, output);
    const send =
      to.kind === 'stream'
        ? output.send
        : (message: Parameters<typeof output.send>[0]) => output.sendPartition(0, message);
    send(schemaMessage(form.fields));
    const writer = new ArrowWriter(form.options, form.fields);
    return {
      append: (chunk) => {
        writer.append(chunk);
        if (writer.full) writer.flush(send);
      },
      finish: () => writer.flush(send),
      [Symbol.dispose]: () => {
        writer[Symbol.dispose]();
        form[Symbol.dispose]();
      },
    };
  } catch (error) {
    form[Symbol.dispose]();
    throw error;
  }
}

function divided(result: ResultWords, form: ArrowForm, partitions: number, output: TaskOutput): OutputWriter {
  const writer = new PartitionWriter(result, form, partitions);
  output.sendPartition(0, schemaMessage(form.fields.slice(0, -1)));
  return {
    append: (chunk) => writer.append(chunk, output.sendPartition),
    finish: () => writer.flush(output.sendPartition),
    [Symbol.dispose]: () => {
      writer[Symbol.dispose]();
      form[Symbol.dispose]();
    },
  };
}
