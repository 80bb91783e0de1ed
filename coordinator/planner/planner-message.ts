import type { ErrorData } from '#shared/error.ts';
import type { QueryReferences } from '../resolver/query-references.ts';
import type { BindRequest, ParseRequest, PlanRequest } from './planner.ts';

/** Between the coordinator and a planner process, over Node's IPC channel: one request at a time, one reply each. */
export type PlannerRequest =
  | { readonly kind: 'parse'; readonly request: ParseRequest }
  | { readonly kind: 'plan'; readonly request: PlanRequest }
  | { readonly kind: 'bind'; readonly request: BindRequest };

export type PlannerReply =
  | { readonly kind: 'ready' }
  | { readonly kind: 'parsed'; readonly references: QueryReferences }
  /** JSON text (`printReply`), so that its length is known before it is read. */
  | { readonly kind: 'planned'; readonly reply: string }
  | { readonly kind: 'bound'; readonly refusals: readonly (string | null)[] }
  | { readonly kind: 'failed'; readonly error: ErrorData; readonly detail: string };

/** What a process is started with: its one argument, as JSON. */
export type PlannerOptions = { readonly memoryLimitBytes: number };
