import { randomUUID } from 'node:crypto';
import type { Http2Session, ServerHttp2Stream } from 'node:http2';
import {
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
} from '@grpc/grpc-js';
import { encodeReport } from '#shared/task/report-codec.ts';
import { decodeTask, decodeTaskHead } from '#shared/task/task-codec.ts';
import type { AnswerInput } from '#proto/generated/skein/calls/v1/Answer.ts';
import type { Call } from '#proto/generated/skein/calls/v1/Call.ts';
import type { CoordinatorBeat } from '#proto/generated/skein/worker/v1/CoordinatorBeat.ts';
import type { HungTaskInput } from '#proto/generated/skein/worker/v1/HungTask.ts';
import type { TaskTimeInput } from '#proto/generated/skein/worker/v1/TaskTime.ts';
import type { TaskReport, TaskSpec } from '#shared/task/task.ts';
import { answerCalls } from '#shared/grpc/answer-calls.ts';
import { requireSecret, toServiceError } from '#shared/grpc/internal-auth.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { must } from '#shared/must.ts';
import type { Release } from '#shared/release.ts';

export type FlightMessage = {
  readonly data_header?: Buffer;
  readonly data_body?: Buffer;
  readonly app_metadata?: Buffer;
};
/** The release of scripted workers, and of the coordinators that tests attach to them. */
export const SCRIPTED_RELEASE: Release = { skein: '0.1.0', duckdb: '1.5.5' };
const hungTask = (run: string | undefined): HungTaskInput | null =>
  run === undefined ? null : { query_id: run, task_id: 't', quantum_ms: '7000' };

export type WorkerScript = {
  readonly secret: string;
  readonly release?: Partial<Release>;
  /** Messages that a started task sends; throwing fails the stream. */
  readonly output: (spec: TaskSpec, cancelled: AbortSignal) => AsyncIterable<FlightMessage>;
  readonly refuseStart?: () => void;
  /** The end of a task that spools; throwing fails it. */
  readonly spool?: (spec: TaskSpec, cancelled: AbortSignal) => Promise<SpooledAnswer>;
  /** Before a CancelTask is answered. */
  readonly cancel?: () => Promise<void>;
  readonly cores?: number;
  readonly openSlots?: number;
  /** Bytes that its tasks have scanned when they are stopped. */
  readonly bytesScanned?: number;
};
/** A report, or whose output could not be read. */
export type SpooledAnswer =
  | { readonly report: TaskReport }
  | { readonly lost: { readonly address: string; readonly taskId: string } };

type StartedTask = { readonly spec: TaskSpec; readonly abort: AbortController; readonly ticket: string };

/** A worker for tests: a real gRPC server with the real protocol, whose tasks send what the test says. */
export async function startScriptedWorker(script: WorkerScript, port = 0) {
  const server = new Server();
  const cancelled: { readonly taskId: string; readonly code: string }[] = [];
  const beats: CoordinatorBeat[] = [];
  const streams = new Map<string, StartedTask>();
  const ended: string[] = [];
  const id = `w-${randomUUID()}`;
  /** Queries that its beats say it holds. */
  const held = new Set<string>();
  /** The times of running tasks that its beats tell. */
  let tasks: readonly TaskTimeInput[] = [];
  /** Connections over which tasks came. */
  const sessions = new Set<Http2Session>();
  /** Connections over which coordinators get beats. */
  const beating = new Set<Http2Session>();
  let silent = false;
  let draining = false;
  let hung: string | undefined;
  let asksFor: string | undefined;
  let sent = 0;
  let attached = 0;
  const { definition } = loadService('worker.proto', 'skein.worker.v1.Worker');
  const carried = {
    RunTask: (
      call: ServerUnaryCall<{ spec: Buffer; messages: Buffer[]; ticket: string }, object>,
      callback: (error: object | null, reply?: object) => void,
    ) => {
      const gone = new AbortController();
      call.on('cancelled', () => gone.abort());
      const run = async (): Promise<void> => {
        let reply: object;
        try {
          const spec = await decodeTask(decodeTaskHead(call.request));
          if (spec.output.kind === 'stream') {
            script.refuseStart?.();
            streams.set(spec.taskId, { spec, abort: new AbortController(), ticket: call.request.ticket });
            callback(null, { is_open: true });
            return;
          }
          const answer = await must(script.spool, 'a script for tasks that spool')(spec, gone.signal);
          reply =
            'report' in answer
              ? encodeReport(answer.report)
              : { report: Buffer.alloc(0), lost: { address: answer.lost.address, task_id: answer.lost.taskId } };
        } catch (error) {
          callback(toServiceError(error));
          return;
        }
        callback(null, reply);
      };
      void run();
    },
    EndQuery: (call: { request: { query_id: string } }, callback: (error: null, reply: object) => void) => {
      ended.push(call.request.query_id);
      held.delete(call.request.query_id);
      callback(null, {});
    },
    CancelTask: (
      call: { request: { task_id: string; code: string } },
      callback: (error: object | null, reply?: object) => void,
    ) => {
      const { task_id: taskId, code } = call.request;
      cancelled.push({ taskId, code });
      streams.get(taskId)?.abort.abort();
      const bytes = script.bytesScanned ?? 0;
      const answer = (): void => callback(null, { found: streams.delete(taskId), bytes_scanned: bytes });
      if (script.cancel === undefined) answer();
      else void script.cancel().then(answer);
    },
  };
  server.addService(definition, {
    Attach: (stream: ServerDuplexStream<CoordinatorBeat, object>) => {
      requireSecret(stream.metadata, fixedKeyring(script.secret));
      attached += 1;
      beating.add(sessionOf(stream));
      stream.on('error', () => undefined);
      stream.on('data', (beat: CoordinatorBeat) => {
        beats.push(beat);
        if (silent) return;
        stream.write({
          worker_id: id,
          name: 'scripted',
          skein_release: script.release?.skein ?? SCRIPTED_RELEASE.skein,
          duckdb_version: `v${script.release?.duckdb ?? SCRIPTED_RELEASE.duckdb}`,
          cores: script.cores ?? 2,
          memory_limit_bytes: '1000000000',
          memory_granted_bytes: '0',
          level_tasks: [0, 0, 0, 0, 0],
          level_scheduled_ms: [0, 0, 0, 0, 0],
          running_tasks: 0,
          spool_bytes: '0',
          draining,
          pid: '1',
          machine_id: `m-${port}`,
          machine_cores: script.cores ?? 2,
          query_ids: [...held],
          tasks,
          hung: hungTask(hung),
          asks_to_end: hungTask(asksFor),
          open_slots: script.openSlots ?? 1,
        });
      });
    },
    ...carried,
    Calls: (stream: ServerDuplexStream<Call, AnswerInput>) => {
      sessions.add(sessionOf(stream));
      answerCalls(definition, carried, () => undefined)(stream);
    },
    Drain: (_call: unknown, callback: (error: null, reply: object) => void) => callback(null, {}),
  });
  const flight = loadService('flight.proto', 'arrow.flight.protocol.FlightService');
  server.addService(flight.definition, {
    DoGet: (call: ServerWritableStream<{ ticket: Buffer }, FlightMessage>) => {
      sessions.add(sessionOf(call));
      const run = async (): Promise<void> => {
        const ticket = call.request.ticket.toString();
        const task = must(
          [...streams.values()].find((one) => one.ticket === ticket),
          'a task that was started',
        );
        const gone = new AbortController();
        call.on('cancelled', () => gone.abort());
        const signal = AbortSignal.any([gone.signal, task.abort.signal]);
        for await (const message of script.output(task.spec, signal)) {
          if (signal.aborted) return;
          sent += 1;
          if (!call.write(message)) {
            await new Promise((resolve) => {
              call.once('drain', resolve);
              signal.addEventListener('abort', resolve);
            });
          }
        }
        call.end();
      };
      run().catch((error: unknown) => call.emit('error', toServiceError(error)));
    },
  });
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, chosen) =>
      error === null ? resolve(chosen) : reject(error),
    );
  });
  return {
    address: `127.0.0.1:${bound}`,
    port: bound,
    cancelled,
    beats,
    /** Queries that EndQuery has named. */
    ended,
    held,
    /** Makes its beats say that these tasks have had this time. */
    time: (times: readonly TaskTimeInput[]) => void (tasks = times),
    /** Makes it hang: it sends no more beats. */
    freeze: () => void (silent = true),
    thaw: () => void (silent = false),
    drain: () => void (draining = true),
    /** Makes its beats say that it ends itself because of this run; undefined: its successor is there. */
    endFor: (run: string | undefined) => void (hung = run),
    /** Makes its beats ask whether it may end itself because of this run. */
    askFor: (run: string | undefined) => void (asksFor = run),
    messagesSent: () => sent,
    /** How often a coordinator has opened the stream of beats. */
    attached: () => attached,
    /** Breaks the connections over which tasks came; the worker lives on. */
    cutTasks: () => {
      for (const session of sessions) session.destroy();
      sessions.clear();
    },
    /** Breaks the connections of the beats: for the coordinator the worker is lost, and it attaches again. */
    cutBeats: () => {
      for (const session of beating) session.destroy();
      beating.clear();
    },
    kill: () => server.forceShutdown(),
  };
}

/** The HTTP/2 session of a call, which grpc-js does not expose. */
function sessionOf(call: object): Http2Session {
  const { call: inner } = call as { call: { stream: ServerHttp2Stream } };
  return must(inner.stream.session, 'a call that runs has a connection');
}

export const report = (spec: TaskSpec, rows: number): FlightMessage => ({
  app_metadata: Buffer.from(JSON.stringify(taskReport(spec, rows))),
});

/** A report whose partitions have `rows` rows and as many bytes each, in one batch. */
export function taskReport(spec: TaskSpec, rows: number): TaskReport {
  const { output } = spec;
  const partitions = output.kind === 'spool' ? output.partitions : 0;
  return {
    taskId: spec.taskId,
    rows,
    batches: 1,
    outputBytes: 0,
    scheduledMs: 1,
    waits: { inputsMs: 0, queuedMs: 0, preparingMs: 0, blockedMs: 0 },
    quanta: 1,
    spilledBytes: 0,
    peakMemoryBytes: 0,
    bytesScanned: 7,
    scans: [],
    partitions: Array.from({ length: partitions }, () => ({ rows, batches: 1, bytes: rows })),
    files: [],
    receivedBytes: 0,
    profile: null,
  };
}
