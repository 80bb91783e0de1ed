import { randomUUID } from 'node:crypto';
import { RecordBatchReader, Table, type RecordBatch } from 'apache-arrow';
import { Message } from 'apache-arrow/ipc/metadata/message';
import type { FlightServiceClient } from '#proto/generated/arrow/flight/protocol/FlightService.ts';
import type { QueryLevelInput } from '#proto/generated/skein/worker/v1/QueryLevel.ts';
import type { WorkerClient } from '#proto/generated/skein/worker/v1/Worker.ts';
import type { WorkerBeat } from '#proto/generated/skein/worker/v1/WorkerBeat.ts';
import { decodeReport } from '#shared/task/report-codec.ts';
import { encodeTaskSpec } from '#shared/task/task-codec.ts';
import type { InputSource, StreamEnd, TaskReport, TaskSpec } from '#shared/task/task.ts';
import { callUnary, type ReplyOf, type UnaryRequest, type UnaryMethod } from '#shared/grpc/call-unary.ts';
import { plainSecurity, type ChannelSecurity } from '#shared/grpc/channel-security.ts';
import { decodeError, fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, taskId, tenantId } from '#shared/id.ts';
import { grantsOf, signTicket, type Ticket } from '#shared/ticket.ts';
import { decodeFlightData, encodeAppMetadata } from '#shared/flight/flight-data.ts';

const WORKER = loadService('worker.proto', 'skein.worker.v1.Worker');
const FLIGHT = loadService('flight.proto', 'arrow.flight.protocol.FlightService');

/** The result of a task, as the minimal coordinator of these tests reads it. */
export type TestResult = { readonly table: Table; readonly report: TaskReport; readonly messages: number };

export type RunTaskResult =
  | { readonly kind: 'finished'; readonly report: TaskReport }
  | { readonly kind: 'lost'; readonly address: string; readonly taskId: string };

export function makeTask(sql: TaskSpec['sql'] | string, overrides: Partial<TaskSpec> = {}): TaskSpec {
  return {
    queryId: queryId(randomUUID()),
    taskId: taskId(randomUUID()),
    epoch: 1,
    tenant: tenantId('acme'),
    principal: principalId('p-1'),
    sql: typeof sql === 'string' ? [sql] : sql,
    scans: [],
    inputs: [],
    output: { kind: 'stream' },
    keepJoinOrder: false,
    context: {
      nowMicros: '1700000000000000',
      timeZone: 'UTC',
      currentUser: 'ann',
      currentCatalog: 'lake',
      currentSchema: 'default',
    },
    memoryLimitBytes: 512 * 2 ** 20,
    spillLimitBytes: 2 ** 30,
    threads: 1,
    scheduledMs: 0,
    pinnedToTop: false,
    killRank: null,
    profile: 'none',
    bounds: [],
    collected: false,
    ...overrides,
  };
}

export class TestCoordinator {
  readonly url: string;
  readonly #control: WorkerClient;
  readonly #flight: FlightServiceClient;
  readonly #secret: string;
  readonly #reports = new Map<string, TaskReport>();

  constructor(url: string, secret: string, security: ChannelSecurity = plainSecurity(fixedKeyring(secret))) {
    const options = { 'grpc.max_receive_message_length': -1 };
    this.#control = security.dial(WORKER.Client, { address: url, role: 'worker' }, options);
    this.#flight = security.dial(FLIGHT.Client, { address: url, role: 'worker' }, options);
    this.#secret = secret;
    this.url = url;
  }

  ticket(spec: TaskSpec, overrides: Partial<Ticket> = {}): string {
    const { queryId: query, taskId: task, tenant, principal, epoch } = spec;
    const grants = grantsOf(spec.scans);
    const expiresAtMs = Date.now() + 60_000;
    return signTicket(
      { queryId: query, taskId: task, tenant, principal, epoch, expiresAtMs, grants, partition: 0, ...overrides },
      fixedKeyring(this.#secret),
    );
  }

  /** Any control call. @throws SkeinError */
  call<Name extends UnaryMethod<WorkerClient>>(
    method: Name,
    request: UnaryRequest<WorkerClient, Name>,
    secret = this.#secret,
    signal?: AbortSignal,
  ): Promise<ReplyOf<WorkerClient, Name>> {
    return callUnary(this.#control, method, request, { keyring: fixedKeyring(secret), signal, lost: 'WORKER_LOST' });
  }

  /** Runs a task with a spooled output; `signal` cancels the call. */
  async runTask(spec: TaskSpec, signal?: AbortSignal): Promise<RunTaskResult> {
    const request = { ...(await encodeTaskSpec(spec)), ticket: this.ticket(spec) };
    const reply = await this.call('RunTask', request, this.#secret, signal);
    if (reply.failure.length > 0) throw decodeError(reply.failure);
    if (reply.lost !== null) return { kind: 'lost', address: reply.lost.address, taskId: reply.lost.task_id };
    const report = decodeReport(reply);
    this.#reports.set(spec.taskId, report);
    return { kind: 'finished', report };
  }

  /** The report of a task that must end well. */
  async report(spec: TaskSpec): Promise<TaskReport> {
    const result = await this.runTask(spec);
    if (result.kind === 'lost') throw new Error(`${result.taskId} is lost`);
    return result.report;
  }

  async endQuery(spec: TaskSpec): Promise<void> {
    await this.call('EndQuery', { query_id: spec.queryId });
  }

  /** A partition of this worker as an input of another task, with as many rows as its task has reported. */
  source(spec: TaskSpec, partition: number, batches: InputSource['batches'] = null): InputSource {
    const ticket = this.ticket(spec, { partition });
    const rows = this.#reports.get(spec.taskId)?.partitions[partition]?.rows ?? 0;
    return { address: this.url, taskId: spec.taskId, partition, ticket, batches, rows, bytes: 0 };
  }

  /** Runs a task and yields the messages of its output as they come; leaving the loop early cancels the call that reads it. */
  async *read(spec: TaskSpec, ticket = this.ticket(spec)): AsyncGenerator<Uint8Array> {
    const reply = await this.call('RunTask', { ...(await encodeTaskSpec(spec)), ticket });
    if (reply.failure.length > 0) throw decodeError(reply.failure);
    if (reply.is_open) yield* this.#get(ticket);
    else yield* [...reply.output, encodeAppMetadata(reply.report)];
  }

  async *#get(ticket: string): AsyncGenerator<Uint8Array> {
    const doGet = FLIGHT.definition.DoGet;
    const call = this.#flight.makeServerStreamRequest(
      doGet.path,
      doGet.requestSerialize,
      (bytes: Buffer) => bytes,
      { ticket: Buffer.from(ticket) },
      internalMetadata(fixedKeyring(this.#secret)),
    );
    try {
      for await (const message of call) yield message as Uint8Array;
    } catch (error) {
      throw fromServiceError(error, 'WORKER_LOST');
    } finally {
      call.cancel();
    }
  }

  /** Runs a task and returns its whole output. @throws SkeinError */
  async run(spec: TaskSpec, ticket = this.ticket(spec)): Promise<TestResult> {
    return await collect(this.read(spec, ticket));
  }

  /** Reads a partition: `ticket` with `@` and the range of batches. @throws SkeinError */
  async partition(ticket: string): Promise<TestResult> {
    return await collect(this.#get(ticket));
  }

  attach(): {
    beat(epoch: number, queries?: readonly QueryLevelInput[]): void;
    /** A beat that lets a worker end that has asked for it. */
    permitEnd(epoch: number): void;
    readonly beats: AsyncIterator<WorkerBeat>;
    end(): void;
  } {
    const call = this.#control.Attach(internalMetadata(fixedKeyring(this.#secret)));
    call.on('error', () => undefined);
    return {
      beat: (epoch, queries = []) => call.write({ coordinator_id: 'c', epoch: String(epoch), queries: [...queries] }),
      permitEnd: (epoch) => call.write({ coordinator_id: 'c', epoch: String(epoch), may_end: true }),
      beats: call[Symbol.asyncIterator]() as AsyncIterator<WorkerBeat>,
      end: () => call.cancel(),
    };
  }

  close(): void {
    this.#control.close();
    this.#flight.close();
  }
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<TestResult> {
  const parts: Uint8Array[] = [];
  let report: TaskReport | undefined;
  let messages = 0;
  for await (const message of stream) {
    messages++;
    const { header, metadata, body } = decodeFlightData(message);
    if (metadata.length > 0) {
      const end = JSON.parse(Buffer.from(metadata).toString()) as StreamEnd;
      if ('failure' in end) throw SkeinError.fromData(end.failure);
      report = end;
    } else parts.push(...ipcMessage(header, body));
  }
  if (report === undefined) throw new Error('the stream had no report');
  return { table: tableOf(parts), report, messages };
}

/** An encapsulated IPC message: what the Arrow library reads. */
function ipcMessage(header: Uint8Array, body: Uint8Array): Uint8Array[] {
  const padded = Buffer.alloc((header.length + 7) & ~7);
  padded.set(header);
  const prefix = Buffer.alloc(8);
  prefix.writeInt32LE(-1, 0);
  prefix.writeInt32LE(padded.length, 4);
  if (Message.decode(header).bodyLength !== body.length)
    throw new Error('the body has another length than its header says');
  return [prefix, padded, body];
}

function tableOf(parts: Uint8Array[]): Table {
  const reader = RecordBatchReader.from(Buffer.concat(parts));
  const batches: RecordBatch[] = [...reader];
  return batches.length === 0 ? new Table(reader.schema) : new Table(batches);
}
