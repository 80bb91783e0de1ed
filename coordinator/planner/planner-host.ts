import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { getCompileCacheDir } from 'node:module';
import { createServer, type Server, type Socket } from 'node:net';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Logger } from '#shared/log/logger.ts';
import { MessageSocket } from './message-socket.ts';
import { PlannerChild, type ChildEvents } from './planner-child.ts';
import { PlannerFolder, removeAbandonedFolders } from './planner-folder.ts';
import type { HostOrder, HostReport, PlannerReply, PlannerRequest } from './planner-message.ts';

const ENTRY = fileURLToPath(new URL('planner-host-process.ts', import.meta.url));

const compiled = getCompileCacheDir();
/** Planners use the coordinator's cache of compiled code. */
const COMPILED = compiled === undefined ? {} : { NODE_COMPILE_CACHE: dirname(compiled) };

/**
 * Planner processes of one coordinator. A small process starts and kills them (`planner-host-process.ts`), because `fork` holds up the
 * caller's main thread for as long as it takes to copy its page tables: 50 ms for 2 GB. Each planner connects itself to a socket in
 * a folder that only this account may enter.
 */
export class PlannerHost {
  readonly #memoryLimitBytes: number;
  readonly #log: Logger;
  readonly #folder = new PlannerFolder();
  readonly #server: Server;
  readonly #listening: Promise<unknown>;
  readonly #children = new Map<number, PlannerChild>();
  #process: ChildProcess | undefined;
  #started = 0;
  #closed = false;

  /** @param memoryLimitBytes of a whole process; DuckDB gets half of it */
  constructor(memoryLimitBytes: number, log: Logger) {
    this.#memoryLimitBytes = memoryLimitBytes;
    this.#log = log;
    this.#server = createServer((socket) => this.#connected(socket)).listen(this.#folder.socketPath);
    this.#listening = once(this.#server, 'listening');
    void this.#removeAbandoned();
  }

  /** Removes what coordinators left that were killed. Nobody waits for it. */
  async #removeAbandoned(): Promise<void> {
    try {
      const removed = await removeAbandonedFolders();
      if (removed > 0) this.#log.info({ removed }, 'folders of coordinators that were killed are removed');
    } catch (error) {
      this.#log.warn({ err: error }, 'folders of coordinators that were killed stay');
    }
  }

  get pids(): readonly (number | undefined)[] {
    return this.#children
      .values()
      .map((child) => child.pid)
      .toArray();
  }

  start(events: ChildEvents): PlannerChild {
    const planner = ++this.#started;
    const end = (): void => this.#order({ kind: 'kill', planner });
    const child = new PlannerChild(this.#memoryLimitBytes, end, events);
    this.#children.set(planner, child);
    const options = {
      planner,
      socket: this.#folder.socketPath,
      memoryLimitBytes: Math.floor(this.#memoryLimitBytes / 2),
    };
    void this.#listening.then(() => this.#order({ kind: 'start', options }));
    return child;
  }

  /** Ends all processes. */
  async close(): Promise<void> {
    this.#closed = true;
    const host = this.#process;
    if (host !== undefined) {
      const exit = once(host, 'exit');
      host.disconnect();
      await exit;
    }
    this.#server.close();
    this.#folder.remove();
  }

  #order(order: HostOrder): void {
    if (this.#closed) return;
    // An order that cannot be sent was for a host that has ended, and its planners with it.
    this.#host().send(order, () => undefined);
  }

  /** Returns the host process. It is started when it is first needed, and again by the next order after it has ended. */
  #host(): ChildProcess {
    if (this.#process !== undefined) return this.#process;
    const host = fork(ENTRY, [this.#folder.path], {
      cwd: this.#folder.workingFolder,
      env: { NODE_NO_WARNINGS: '1', ...COMPILED },
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    host.on('message', (report: HostReport) => {
      const child = this.#children.get(report.planner);
      if (report.kind === 'started') child?.started(report.pid);
      else if (this.#children.delete(report.planner)) child?.ended();
    });
    host.on('error', () => undefined);
    host.on('exit', () => this.#hostEnded());
    this.#process = host;
    return host;
  }

  #hostEnded(): void {
    this.#process = undefined;
    if (!this.#closed) this.#log.error('the process that starts planners has ended');
    const children = [...this.#children.values()];
    this.#children.clear();
    // A planner ends with its connection.
    for (const child of children) child.ended();
  }

  #connected(socket: Socket): void {
    let child: PlannerChild | undefined;
    const messages = new MessageSocket<PlannerRequest>(socket, (message) => {
      const reply = message as PlannerReply;
      if (reply.kind !== 'ready') {
        child?.receive(reply);
        return;
      }
      child = this.#children.get(reply.planner);
      if (child === undefined) socket.destroy();
      else child.connected(socket, messages);
    });
    socket.on('error', () => undefined);
  }
}
