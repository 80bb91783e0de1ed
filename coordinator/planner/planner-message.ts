import type { ErrorData } from '#shared/error.ts';
import type { QueryReferences } from '../binding/query-references.ts';
import type { Part } from '../statement/proven.ts';
import type {
  BindRequest,
  CompareReply,
  CompareRequest,
  DescribeReply,
  ParseRequest,
  PlanRequest,
  PostgresRequest,
  PostgresText,
  TranslateRequest,
} from '../binding/planner.ts';

/** Between the coordinator and a planner process, over a socket (`MessageSocket`): one request at a time, one reply each. */
export type PlannerRequest =
  | { readonly kind: 'parse'; readonly request: ParseRequest }
  | { readonly kind: 'plan'; readonly request: PlanRequest }
  | { readonly kind: 'describe'; readonly request: PlanRequest }
  | { readonly kind: 'bind'; readonly request: BindRequest }
  | { readonly kind: 'translate'; readonly request: TranslateRequest }
  | { readonly kind: 'postgres'; readonly request: PostgresRequest }
  | { readonly kind: 'compare'; readonly request: CompareRequest }
  | { readonly kind: 'parts'; readonly parts: readonly Part[] };

export type PlannerReply =
  /** The first message of a connection; `planner` is the number that the process was started with. */
  | { readonly kind: 'ready'; readonly planner: number }
  | { readonly kind: 'parsed'; readonly references: QueryReferences }
  /** JSON text (`printReply`), so that its length is known before it is read. */
  | { readonly kind: 'planned'; readonly reply: string }
  | { readonly kind: 'described'; readonly reply: DescribeReply }
  | { readonly kind: 'bound'; readonly refusals: readonly (string | null)[] }
  | { readonly kind: 'translated'; readonly sql: string }
  | { readonly kind: 'rewritten'; readonly text: PostgresText | null }
  | { readonly kind: 'compared'; readonly reply: CompareReply }
  | { readonly kind: 'proven' }
  | { readonly kind: 'failed'; readonly error: ErrorData; readonly detail: string };

/** The options of a planner process, passed as JSON in its only argument. */
export type PlannerOptions = {
  /** Number of the process, unique among all planners that the coordinator has started. */
  readonly planner: number;
  /** Path of the socket that it connects to. */
  readonly socket: string;
  readonly memoryLimitBytes: number;
};

/** From the coordinator to the process that starts planners, over Node's IPC channel. */
export type HostOrder =
  | { readonly kind: 'start'; readonly options: PlannerOptions }
  | { readonly kind: 'kill'; readonly planner: number };

export type HostReport =
  | { readonly kind: 'started'; readonly planner: number; readonly pid: number }
  | { readonly kind: 'ended'; readonly planner: number };
