import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Context,
  type TextMapGetter,
  type Tracer,
} from '@opentelemetry/api';
import { W3CTraceContextPropagator, type ExportResult } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
  type ReadableSpan,
  type SpanExporter,
} from '@opentelemetry/sdk-trace';
import { atMost } from '#shared/at-most.ts';
import type { Logger } from '#shared/log/logger.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { statementSpans, type StatementSpan } from './statement-spans.ts';
import type { Traces } from '../query/traces.ts';

/** Spans that wait for the collector; more are dropped. */
const WAITING_MAX = 8_192;
const BATCH_MAX = 512;
const INTERVAL_MS = 1_000;
/** Time that the collector has to take a batch, tries included. */
const EXPORT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 2_000;

type Options = {
  /** Base URL of the collector: spans go to `<endpoint>/v1/traces`, as JSON. */
  readonly endpoint: string;
  /** Share of the statements without a `traceparent` that are traced, from 0 to 1. */
  readonly sampleRatio: number;
  /** Id of this process among those of its kind. */
  readonly instance: string;
  readonly log: Logger;
};

/** Begins to export traces. Loaded only when it is asked for: see `openTraces`. */
export function exportTraces({ endpoint, sampleRatio, instance, log }: Options): Traces {
  const url = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const exporter = new LoggedExporter(new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }), log);
  const own = {
    'service.name': 'skein-coordinator',
    'service.version': SKEIN_RELEASE,
    'service.instance.id': instance,
  };
  const provider = new TracerProvider({
    resource: defaultResource().merge(resourceFromAttributes(own)),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampleRatio) }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter,
        maxQueueSize: WAITING_MAX,
        maxExportBatchSize: BATCH_MAX,
        scheduledDelayMillis: INTERVAL_MS,
        exportTimeoutMillis: EXPORT_TIMEOUT_MS,
      }),
    ],
  });
  const tracer = provider.getTracer('skein', SKEIN_RELEASE);
  const propagator = new W3CTraceContextPropagator();
  return {
    ended: (statement, parent) => {
      try {
        const context = parent === null ? ROOT_CONTEXT : propagator.extract(ROOT_CONTEXT, parent, ONE_HEADER);
        emit(tracer, statementSpans(statement), { context, kind: SpanKind.SERVER });
      } catch (error) {
        // A statement never fails because it is traced.
        log.warn({ err: error, queryId: statement.row.query_id }, 'a statement is not traced');
      }
    },
    close: async () => {
      await atMost(provider.shutdown(), CLOSE_TIMEOUT_MS);
    },
  };
}

/** Reads `traceparent` alone: what else a client sends of its trace is not passed on. */
const ONE_HEADER: TextMapGetter<string> = {
  keys: () => ['traceparent'],
  get: (parent, name) => (name === 'traceparent' ? parent : undefined),
};

type Place = { readonly context: Context; readonly kind: SpanKind };

function emit(tracer: Tracer, span: StatementSpan, { context, kind }: Place): void {
  const { name, startMs, endMs, attributes, error, children } = span;
  const started = tracer.startSpan(name, { startTime: startMs, attributes: { ...attributes }, kind }, context);
  // A span that is not sampled has children that are not, either.
  if (started.isRecording()) {
    if (error !== null)
      started.setStatus({ code: SpanStatusCode.ERROR, message: error }).setAttribute('error.type', error);
    const below = { context: trace.setSpan(context, started), kind: SpanKind.INTERNAL };
    for (const child of children) emit(tracer, child, below);
  }
  started.end(endMs);
}

/** Logs the first batch that the collector does not take, and the first one after it that it does. */
class LoggedExporter implements SpanExporter {
  readonly #inner: SpanExporter;
  readonly #log: Logger;
  #isFailing = false;

  constructor(inner: SpanExporter, log: Logger) {
    this.#inner = inner;
    this.#log = log;
  }

  export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
    this.#inner.export(spans, (result) => {
      const { error } = result;
      const isFailing = error !== undefined;
      if (isFailing && !this.#isFailing)
        this.#log.warn({ err: error, spans: spans.length }, 'spans of traces are lost');
      if (!isFailing && this.#isFailing) this.#log.info('the collector takes the spans of traces again');
      this.#isFailing = isFailing;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.#inner.shutdown();
  }
}
