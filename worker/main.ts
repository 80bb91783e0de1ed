import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server as HttpServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { Server } from '@grpc/grpc-js';
import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { errorBody, SkeinError } from '#shared/error.ts';
import { CARRIED_BYTES_MAX } from '#shared/grpc/call-stream.ts';
import { openChannelSecurity, type ChannelSecurity } from '#shared/grpc/channel-security.ts';
import type { GrpcPort } from '#shared/grpc/listen.ts';
import { KEEPALIVE } from '#shared/grpc/keepalive.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { workerId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { addMemberService, type MemberProcess } from '#shared/membership/member-service.ts';
import { SKEIN_RELEASE } from '#shared/release.ts';
import { limitNewcomers } from '#shared/newcomers/http-newcomers.ts';
import { Newcomers, newcomerLimits, peerOf } from '#shared/newcomers/newcomers.ts';
import { metricsAccess, type MetricsAccess } from '#shared/metrics-access.ts';
import { temporaryFolders, workerFolders } from './temporary-folders.ts';
import type { ObjectFolderSettings } from './objects/object-folder.ts';
import { cacheSize } from './disk-cache/cache-size.ts';
import { clearKept } from './disk-cache/kept-objects.ts';
import { DiskCache } from './disk-cache/disk-cache.ts';
import { duckDbVersion } from './duckdb/instance.ts';
import { returnFreedMemory } from './duckdb/library.ts';
import { controlHandlers, type WorkerState } from './flight/control-service.ts';
import { PeerClients } from './exchange/peer-clients.ts';
import { doGetHandler, flightDefinition } from './flight/flight-service.ts';
import { TaskRegistry } from './task/task-registry.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { MemoryWatch, residentBytes } from './memory/memory-watch.ts';
import { limitProcessMemory, type AllowThreads } from './process-limit.ts';
import { MemoryGate } from './slot/memory-gate.ts';
import { SlotPool } from './slot/slot-pool.ts';
import { OrderedEnd } from './ordered-end.ts';
import { thisMachine } from './this-machine.ts';
import { Spool } from './spool/spool.ts';
import { SpoolStore } from './spool/spooled-output.ts';

/** A running worker: `url` is host:port of Flight and control, `metricsUrl` the page that Prometheus reads. */
export type RunningWorker = {
  readonly url: string;
  readonly metricsUrl: string;
  /** Resolves when a requested drain is complete. */
  readonly drained: Promise<void>;
  /** Resolves when a quantum does not end and the coordinators have been told: the caller must then end the process at once. */
  readonly hung: Promise<void>;
  /** Refuses new tasks; resolves when no task and no output is left. */
  drain(): Promise<void>;
  close(): Promise<void>;
};

const LAST_ANSWER_MS = 200;
/** Limit of tasks that wait for memory or a slot: a coordinator sends one per slot and query, and runs a hundred queries. */
const WAITING_PER_SLOT_MAX = 256;
/** Largest share of the worker's memory for the spool, so that a small worker has some left for its tasks. */
const SPOOL_SHARE_MAX = 1 / 3;

/**
 * Builds a worker and starts it; `onEndangered` is called when it may have to end itself soon. With `member` it answers operators' calls.
 * @throws PORT_IN_USE, START_FAILED.
 */
export async function startWorker(
  config: Config,
  log: Logger,
  onEndangered: () => void = () => undefined,
  member?: MemberProcess,
): Promise<RunningWorker> {
  const security = openChannelSecurity(config, 'worker', log);
  // Reports a wrong setting before anything is opened.
  security.serverCredentials(config.internal_host);
  const { spillDir, keptDir } = workerFolders(config);
  for (const folder of temporaryFolders(config)) await clearFolder(folder);
  const slots = config['worker.cores'];
  const end = new OrderedEnd(log, systemClock);
  let allowThreads: AllowThreads = () => undefined;
  const { copies, objects } = await openDiskCache(config, log);
  const tasksMax = slots * (config['worker.tasks_per_slot_max'] + WAITING_PER_SLOT_MAX);
  const pool = openSlots(config, {
    spillDir,
    copies,
    objects,
    log,
    onSpares: (spares) => allowThreads(spares),
    onOverrun: onEndangered,
    onHung: (hung) => end.want(hung),
  });
  const { tasksBytes, spoolBytes } = shareMemory(config);
  const [memory, spool] = [new MemoryGate(tasksBytes, tasksMax), new Spool(spoolBytes, (on) => pool.setSpoolFull(on))];
  const store = new SpoolStore({
    folder: join(spillDir, 'exchange'),
    memory: spool,
    diskBytesMax: config['worker.spool_disk_limit'],
  });
  const peers = new PeerClients({ security, silenceMs: config['worker.exchange_timeout'] });
  const addresses = new Set<string>();
  const rooms = { pool, memory, spool, store };
  const tasks = new TaskRegistry({
    ...rooms,
    peers,
    addresses,
    keyring: security.keyring,
    tasksMax,
    orphanTimeoutMs: config['worker.orphan_timeout'],
    clock: systemClock,
    log,
  });
  const beat = heartbeat(config, { ...rooms, tasks, end });
  const server = createGrpcServer(config, { pool, tasks, peers, security, beat, end, copies, keptDir, member, log });
  const metrics = createMetrics({ ...rooms, copies, tasks, name: config['worker.name'] });
  const internal = await security.listen(server, config.internal_host, config['worker.port']);
  const http = await serveMetrics(metrics, config);
  const processBytes = config['worker.memory_limit'] + config['worker.process_headroom'];
  allowThreads = limitProcessMemory(processBytes, slots, log);
  watchMemory(pool, processBytes, log);
  const url = `${config.internal_host}:${internal.port}`;
  addresses.add(url).add(`${config['cluster.advertise_host'] || config.internal_host}:${internal.port}`);
  log.info({ url, slots, spillDir }, 'worker is up');
  return {
    url,
    metricsUrl: `http://${config.internal_host}:${(http.address() as AddressInfo).port}/metrics`,
    drained: tasks.drained,
    hung: end.told,
    drain: () => tasks.drain(),
    close: async () => {
      await endService({ tasks, peers, internal, http });
      await pool.close();
      for (const part of [metrics, security, copies]) part[Symbol.dispose]();
      for (const folder of temporaryFolders(config)) await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Opens the cache of data files, and says where the slots put objects of buckets. */
async function openDiskCache(
  config: Config,
  log: Logger,
): Promise<{ readonly copies: DiskCache; readonly objects: ObjectFolderSettings }> {
  const { cacheDir, copyDir, keptDir, heldDir } = workerFolders(config);
  const bytesMax = await cacheSize(config['worker.disk_cache_size'], cacheDir);
  const copies = new DiskCache({
    folder: copyDir,
    keptFolder: keptDir,
    bytesMax,
    fileBytesMin: config['worker.disk_cache_file_min'],
    unusedMs: config['worker.disk_cache_time'],
    log,
  });
  await copies.adopt();
  const holes = config['worker.object_ranges'];
  return { copies, objects: { keptFolder: keptDir, heldFolder: heldDir, bytesMax, holes } };
}

type ServiceParts = {
  readonly tasks: TaskRegistry;
  readonly peers: PeerClients;
  readonly internal: GrpcPort;
  readonly http: HttpServer;
};

/** Ends the tasks, then the connections of those that asked for them. */
async function endService({ tasks, peers, internal, http }: ServiceParts): Promise<void> {
  const { draining } = tasks;
  await tasks.close();
  peers.close();
  // Leaves time for the reply to the drain request to be sent.
  if (draining) await sleep(LAST_ANSWER_MS);
  await internal.close();
  http.closeAllConnections();
  await new Promise((done) => http.close(done));
}

type SlotParts = {
  readonly spillDir: string;
  readonly copies: DiskCache;
  readonly objects: ObjectFolderSettings;
  readonly log: Logger;
  readonly onSpares: (spares: number) => void;
  readonly onOverrun: () => void;
  readonly onHung: (hung: Parameters<OrderedEnd['want']>[0]) => void;
};

function openSlots(config: Config, { spillDir, copies, objects, log, ...quanta }: SlotParts): SlotPool {
  const slots = config['worker.cores'];
  return new SlotPool({
    slots,
    tasksPerSlotMax: config['worker.tasks_per_slot_max'],
    thread: {
      spillDir,
      idle: {
        countMax: config['worker.instances_idle_max'],
        bytesMax: Math.floor(config['worker.instances_idle_memory'] / (slots + 1)),
        afterMs: config['worker.instances_idle_time'],
      },
      outputBufferBytes: config['worker.task_output_buffer'],
      rowCacheBytes: Math.floor(config['worker.row_cache_memory'] / (slots + 1)),
      copies: copies.settings,
      objects,
    },
    onReads: (message) => copies.take(message),
    quanta: {
      longMax: config['worker.long_quanta_max'],
      ageMaxMs: config['worker.quantum_max'],
      overrunMs: config['worker.quantum_overrun'],
      sparesMax: config['worker.spare_slots_max'],
      ...quanta,
    },
    log,
  });
}

type BeatParts = {
  readonly pool: SlotPool;
  readonly tasks: TaskRegistry;
  readonly memory: MemoryGate;
  readonly spool: Spool;
  readonly end: OrderedEnd;
};

/** Makes the worker's state as each heartbeat tells it. */
function heartbeat(config: Config, { pool, tasks, memory, spool, end }: BeatParts): () => WorkerState {
  const id = workerId(randomUUID());
  const machine = thisMachine();
  return () => ({
    worker_id: id,
    name: config['worker.name'],
    skein_release: SKEIN_RELEASE,
    duckdb_version: duckDbVersion(),
    cores: config['worker.cores'],
    memory_limit_bytes: String(config['worker.memory_limit']),
    running_tasks: tasks.active,
    memory_granted_bytes: String(memory.grantedBytes),
    ...levelsOf(pool),
    spool_bytes: String(spool.bytes),
    draining: tasks.draining,
    pid: String(process.pid),
    machine_id: machine.id,
    machine_cores: machine.cores,
    query_ids: tasks.queries(),
    hung: end.hung,
    asks_to_end: end.asksFor,
    open_slots: pool.openSlots,
    tasks: tasks.times(),
    wanted_keys: tasks.wantedKeys(),
  });
}

function watchMemory(pool: SlotPool, processBytes: number, log: Logger): void {
  const watch = new MemoryWatch(
    processBytes,
    {
      residentBytes,
      users: () => pool.holders,
      working: () => pool.working(),
      setPressure: (on) => pool.setMemoryShort(on),
      returnFreed: returnFreedMemory,
    },
    log,
  );
  watch.start();
}

type ServerParts = {
  readonly peers: PeerClients;
  readonly tasks: TaskRegistry;
  readonly security: ChannelSecurity;
  readonly beat: () => WorkerState;
  readonly end: OrderedEnd;
  readonly pool: SlotPool;
  readonly copies: DiskCache;
  readonly keptDir: string;
  readonly member: MemberProcess | undefined;
  readonly log: Logger;
};

function createGrpcServer(config: Config, { pool, copies, keptDir, member, log, ...parts }: ServerParts): Server {
  // One message that is too long would end the stream which it shares with others.
  const messageBytesMax = Math.max(config['worker.task_bytes_max'], 2 * CARRIED_BYTES_MAX);
  const server = new Server({ ...KEEPALIVE, 'grpc.max_receive_message_length': messageBytesMax });
  server.addService(
    loadService('worker.proto', 'skein.worker.v1.Worker').definition,
    controlHandlers({
      ...parts,
      clearCache: async () => copies.clear() + (await clearKept(keptDir)),
      clock: systemClock,
      beatIntervalMs: config['cluster.heartbeat_interval'],
      onLevels: (spec) => pool.setLevels(spec),
      onQueryTimes: (queries) => pool.setQueryTimes(queries),
    }),
  );
  server.addService(flightDefinition(), {
    DoGet: doGetHandler({
      ...parts,
      clock: systemClock,
      compression: config['worker.exchange_compression'],
    }),
  });
  if (member !== undefined) {
    const { tasks, security } = parts;
    const notReady = (): string | undefined => {
      if (tasks.draining) return 'it drains';
      return tasks.isHeard ? undefined : 'no coordinator is heard';
    };
    addMemberService(server, { member, config, security, notReady, drainMs: config['worker.drain_timeout'], log });
  }
  return server;
}

/** Divides the worker's memory between tasks and the spool, which holds their output until it is read. */
function shareMemory(config: Config): { readonly tasksBytes: number; readonly spoolBytes: number } {
  const total = config['worker.memory_limit'];
  const spoolBytes = Math.min(config['worker.spool_memory_limit'], Math.floor(total * SPOOL_SHARE_MAX));
  return { tasksBytes: total - spoolBytes, spoolBytes };
}

/** Empties a folder: files that a crashed worker left behind are not in use. */
async function clearFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await makeFolders(path, { mode: 0o700 });
}

async function answerMetrics(
  metrics: Metrics,
  access: MetricsAccess,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    await access({ peer: request.socket.remoteAddress, headers: request.headers });
    const text = await metrics.text();
    response.writeHead(200, { 'content-type': metrics.contentType }).end(text);
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    const authenticate = error.code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {};
    response.writeHead(error.entry.http, { 'content-type': 'application/json', ...authenticate });
    response.end(JSON.stringify(errorBody(error)));
  }
}

function serveMetrics(metrics: Metrics, config: Config): Promise<HttpServer> {
  const { internal_host: host, 'worker.metrics_port': port, 'metrics.token': token } = config;
  // User tokens are not accepted, because a worker does not learn which of them have been revoked.
  const access = metricsAccess({ token });
  const newcomers = new Newcomers(newcomerLimits(config));
  const http = createServer((request, response) => {
    if (request.url === '/health') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}\n');
    } else if (request.url === '/metrics') {
      const known = async (asker: Parameters<MetricsAccess>[0]): Promise<void> => {
        await access(asker);
        newcomers.signedIn(peerOf(request.socket));
      };
      void answerMetrics(metrics, known, request, response);
    } else {
      response.writeHead(404).end();
    }
  });
  limitNewcomers(http, newcomers);
  return new Promise((listening, reject) => {
    http.once('error', (error) =>
      reject(new SkeinError('PORT_IN_USE', `cannot listen on ${host}:${port}`, { cause: error })),
    );
    http.listen(port, host, () => listening(http));
  });
}

const levelsOf = ({ levels }: SlotPool): Pick<WorkerState, 'level_tasks' | 'level_scheduled_ms'> => ({
  level_tasks: [...levels.tasks],
  level_scheduled_ms: [...levels.scheduledMs],
});
