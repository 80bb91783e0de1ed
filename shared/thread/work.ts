import { move, transferableSymbol, valueSymbol } from 'piscina';
import { SkeinError, type ErrorData } from '#shared/error.ts';

/** Work for a pool thread: an exported function of a module, made by `inThread`. Input and output are values that can be sent. */
export type Work<In, Out> = { readonly module: URL; readonly name: string; readonly run?: ThreadFunction<In, Out> };

/** @param module URL of the module that exports the function under `name` */
export const work = <In, Out>(module: URL, name: string): Work<In, Out> => ({ module, name });

/** The answer of a thread. Errors are sent as data, because an error loses its class between threads. */
export type WorkAnswer<Out> =
  | { readonly kind: 'done'; readonly value: Out }
  | { readonly kind: 'failed'; readonly error: ErrorData; readonly detail: string };

type ThreadFunction<In, Out> = (input: In) => Promise<WorkAnswer<Out>>;

/** Settings that all threads of a pool get at their start. */
export type WorkSettings = {
  /** Memory of one thread for the bytes of files. */
  readonly fileBytes: number;
  /** Memory of one thread for manifests that it has decoded. */
  readonly cacheBytes: number;
};

/** Wraps a function so that a pool can call it: its errors become data, and the buffers of its result are moved, not copied. */
export function inThread<In, Out>(
  run: (input: In) => Promise<Out> | Out,
  buffersOf: (value: Out) => readonly Uint8Array[] = () => [],
): ThreadFunction<In, Out> {
  return async (input) => {
    try {
      const value = await run(input);
      const buffers = buffersOf(value).map((one) => one.buffer);
      const answer: WorkAnswer<Out> = { kind: 'done', value };
      const moved: unknown = move({ [transferableSymbol]: buffers, [valueSymbol]: answer });
      return moved as WorkAnswer<Out>;
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      const detail = error.code === 'INTERNAL_ERROR' ? String((thrown as Error | undefined)?.stack ?? thrown) : '';
      return { kind: 'failed', error: error.toData(), detail };
    }
  };
}
