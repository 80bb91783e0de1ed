/** An error that the server has answered, as the catalogue of errors has it. */
export class ApiError extends Error {
  readonly code: string;
  readonly status: number;
  readonly queryId: string | undefined;
  /** Offset in the statement. */
  readonly position: number | undefined;
  /** The coordinator that leads, told by one that stands by. */
  readonly leader: string | undefined;

  constructor(message: string, about: ErrorFacts) {
    super(message);
    this.name = 'ApiError';
    this.code = about.code;
    this.status = about.status;
    this.queryId = about.queryId;
    this.position = about.position;
    this.leader = about.leader;
  }
}

type ErrorFacts = {
  readonly code: string;
  readonly status: number;
  readonly queryId?: string | undefined;
  readonly position?: number | undefined;
  readonly leader?: string | undefined;
};

/** Tells everybody who listens that the session has ended; the page then asks to sign in again, over what is open. */
export const SIGNED_OUT = 'skein-signed-out';

type Call = {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
};

/** A request of the page. Only our own page can send this header, by which the server takes the session's cookie. @throws ApiError */
export async function call(path: string, { method = 'GET', body, headers = {}, signal }: Call = {}): Promise<Response> {
  const response = await fetch(path, {
    method,
    headers: {
      'x-skein-console': '1',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    if (signal?.aborted === true) throw error;
    throw new ApiError('the coordinator cannot be reached', { code: 'OFFLINE', status: 0 });
  });
  if (response.ok) return response;
  const error = await errorOf(response);
  if (error.status === 401 && path !== '/api/console/session') globalThis.dispatchEvent(new Event(SIGNED_OUT));
  throw error;
}

/** A request whose answer is JSON. @throws ApiError */
export async function callJson<T>(path: string, options: Call = {}): Promise<T> {
  return (await (await call(path, options)).json()) as T;
}

async function errorOf(response: Response): Promise<ApiError> {
  const queryId = response.headers.get('x-skein-query-id') ?? undefined;
  const place = Number(response.headers.get('x-skein-position') ?? Number.NaN);
  const position = Number.isInteger(place) ? place : undefined;
  const body = (await response.json().catch(() => undefined)) as
    | { readonly error?: string; readonly message?: string }
    | undefined;
  const message = body?.message ?? `the coordinator answered ${response.status}`;
  const leader = leaderOf(response.headers.get('x-skein-leader'));
  return new ApiError(message, { code: body?.error ?? 'UNKNOWN', status: response.status, queryId, position, leader });
}

/** An address of the web, without a slash at its end; whatever else the header says leads nowhere. */
function leaderOf(text: string | null): string | undefined {
  if (text === null || !/^https?:\/\//.test(text) || !URL.canParse(text)) return undefined;
  return text.replace(/\/$/, '');
}
