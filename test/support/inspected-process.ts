import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { must } from '#shared/must.ts';
import type { Cluster } from './cluster.ts';

/** Lets each process of a cluster that is asked to open its inspector do so at a port of its own. */
export const INSPECTABLE = { NODE_OPTIONS: '--inspect-port=127.0.0.1:0' } as const;

const OPEN_TIMEOUT_MS = 10_000;

const SWEEP_MS = 500;

/** JavaScript memory of a process after a garbage collection: its heap, and external memory that the heap's objects own. */
export type CollectedMemory = { readonly heapBytes: number; readonly externalBytes: number };

/** Reads the memory of a service that runs with `INSPECTABLE`, whose main thread collects its garbage first. */
export class InspectedProcess implements Disposable {
  readonly #socket: WebSocket;
  #calls = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  /** A service of the cluster, by its name. */
  static async open(cluster: Cluster, name: string): Promise<InspectedProcess> {
    const services = await cluster.services();
    const { pid } = must(
      services.find((one) => one.name === name),
      name,
    );
    process.kill(pid, 'SIGUSR1');
    const end = performance.now() + OPEN_TIMEOUT_MS;
    for (;;) {
      const url = /ws:\/\/[\w.:/-]+/.exec(await readFile(join(cluster.dataDir, 'logs', `${name}.log`), 'utf8'))?.[0];
      if (url !== undefined) return new InspectedProcess(await openSocket(url));
      if (performance.now() > end) throw new Error(`${name} does not open its inspector`);
      await sleep(20);
    }
  }

  async collectedMemory(): Promise<CollectedMemory> {
    await this.#call('HeapProfiler.collectGarbage', {});
    const expression = 'JSON.stringify(process.memoryUsage())';
    const answer = (await this.#call('Runtime.evaluate', { expression })) as { result: { value: string } };
    const { heapUsed, external } = JSON.parse(answer.result.value) as { heapUsed: number; external: number };
    return { heapBytes: heapUsed, externalBytes: external };
  }

  /** Collects the garbage, and returns to the system what the C library keeps of freed memory. Linux only. */
  async returnMemory(): Promise<void> {
    const require = `process.getBuiltinModule('node:module').createRequire(${JSON.stringify(import.meta.filename)})`;
    const trim = `${require}('koffi').load(null).func('int malloc_trim(size_t pad)')(0)`;
    await this.#call('HeapProfiler.collectGarbage', {});
    // V8 frees the buffers that a collection has found in the background.
    await sleep(SWEEP_MS);
    await this.#call('Runtime.evaluate', { expression: trim });
  }

  #call(method: string, params: object): Promise<unknown> {
    const id = ++this.#calls;
    return new Promise((resolve) => {
      const listen = ({ data }: MessageEvent): void => {
        const message = JSON.parse(String(data)) as { id?: number; result?: unknown };
        if (message.id !== id) return;
        this.#socket.removeEventListener('message', listen);
        resolve(message.result);
      };
      this.#socket.addEventListener('message', listen);
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }

  [Symbol.dispose](): void {
    this.#socket.close();
  }
}

function openSocket(url: string): Promise<WebSocket> {
  const socket = new WebSocket(url);
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(socket), { once: true });
    socket.addEventListener('error', () => reject(new Error(`no inspector at ${url}`)), { once: true });
  });
}
