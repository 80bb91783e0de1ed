import type { DoorSink } from '../sink/result-sink.ts';
import { jsonPrinter } from './arrow-json.ts';
import type { KeptResult } from './kept-result.ts';

type Replay = {
  /** As in `KeptResult.read`. */
  readonly holdbackBytes: number;
  /** Aborts when the reader is gone; the result stays. */
  readonly signal: AbortSignal;
};

/** Gives a kept result to a door from its first row on, in the form that the door asks for, and waits while its statement runs. */
export async function replayResult(
  result: KeptResult,
  sink: DoorSink,
  { holdbackBytes, signal }: Replay,
): Promise<void> {
  const shape = await result.shape(signal);
  sink.planned(shape);
  if (shape.kind === 'rows') {
    sink.start();
    const print = sink.encoding === 'json' ? jsonPrinter(shape) : null;
    for await (const batch of result.read({ holdbackBytes, signal })) {
      if (print === null) await sink.batch(batch);
      else for await (const rows of print(batch)) await sink.batch(rows);
    }
  }
  const summary = await result.summary(signal);
  if (result.changedRows !== undefined) sink.changed(result.changedRows);
  sink.finish(summary);
}
