import type { Address } from './library.ts';

/** Collects the chunks of a result into batches and passes them to the task's output. */
export interface OutputWriter extends Disposable {
  append(chunk: Address): void;
  /** Passes on the last, incomplete batches. */
  finish(): void;
}
