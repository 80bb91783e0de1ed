import type { EndedStatement } from './statement-spans.ts';

/** Sends what statements did to a collector of OpenTelemetry. */
export interface Traces {
  /** Takes a statement that has ended; `parent` is the header `traceparent` of its request. Never throws, and never waits. */
  ended(statement: EndedStatement, parent: string | null): void;
  /** Sends what waits; gives up after 2 s. */
  close(): Promise<void>;
}
