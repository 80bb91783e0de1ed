import { call } from '../api/call.ts';
import { ArrowMessages } from '../result/arrow-messages.ts';
import type { ResultSet } from '../result/result-set.ts';

const ARROW_STREAM = 'application/vnd.apache.arrow.stream';
/** Bytes of rows that a page takes. */
const RESULT_BYTES_MAX = 128 * 2 ** 20;
/** The header of an answer that has fewer rows than its statement gives. One that began before that was known does not have it. */
const CUT_HEADER = 'x-skein-cut';

export type RowsRequest = {
  readonly path: string;
  readonly method: 'GET' | 'POST';
  readonly body?: unknown;
  readonly headers: Readonly<Record<string, string>>;
  readonly rowLimit: number;
  readonly signal: AbortSignal;
};

/** Reads the rows of an answer as they come. @returns whether there are more than were taken @throws ApiError */
export async function fetchRows(
  { path, method, body, headers, rowLimit, signal }: RowsRequest,
  into: ResultSet,
  onRows: () => void,
): Promise<boolean> {
  const enough = new AbortController();
  const response = await call(path, {
    method,
    ...(body === undefined ? {} : { body }),
    headers: { accept: ARROW_STREAM, ...headers },
    signal: AbortSignal.any([signal, enough.signal]),
  });
  if (response.body === null) return false;
  const isCut = response.headers.has(CUT_HEADER);
  const messages = new ArrowMessages();
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((thrown: unknown) => {
      if (signal.aborted) throw thrown;
      throw new BrokenAnswer();
    });
    if (done) break;
    for (const message of messages.add(value)) into.add(message);
    onRows();
    if (into.rowCount > rowLimit || into.bytes > RESULT_BYTES_MAX) {
      enough.abort();
      into.cut(rowLimit);
      return true;
    }
  }
  if (!messages.isWhole) throw new BrokenAnswer();
  return isCut;
}

/** The connection broke in the middle of the rows. */
export class BrokenAnswer extends Error {
  constructor() {
    super('the answer broke off: the rows that came are not all');
    this.name = 'BrokenAnswer';
  }
}

/** Whether the kept rows of a statement that has ended are not all that it gives; undefined when they are not kept. */
export async function askWhetherCut(queryId: string, signal: AbortSignal): Promise<boolean | undefined> {
  const enough = new AbortController();
  try {
    const response = await call(`/api/query/${queryId}/result`, {
      headers: { accept: ARROW_STREAM },
      signal: AbortSignal.any([signal, enough.signal]),
    });
    return response.headers.has(CUT_HEADER);
  } catch {
    return undefined;
  } finally {
    enough.abort();
  }
}
