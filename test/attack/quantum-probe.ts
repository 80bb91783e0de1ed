import { setTimeout as sleep } from 'node:timers/promises';
import { isMainThread, parentPort, Worker } from 'node:worker_threads';
import { BOUNDED_FAMILIES, boundSql } from '#shared/sql/bounded-functions.ts';
import { must } from '#shared/must.ts';
import { Instance, interruptConnection } from '#worker/duckdb/instance.ts';
import { destroyChunk, PreparedStatement, Statement } from '#worker/duckdb/statement.ts';
import { limitProcessMemory } from '#worker/process-limit.ts';
import { silentLogger } from '#shared/log/logger.ts';

/**
 * A process that runs statements one at a time in a thread, as a worker's slot does, and interrupts each. A statement that hangs or crashes
 * affects this process only. IPC: it receives a statement and answers the CPU time of this process, in ms, from the interrupt to the
 * statement's end (0: it had ended before).
 */
const INTERRUPT_AFTER_MS = 300;
const INTERRUPT_INTERVAL_MS = 50;
const MEMORY = '2GB';
const PROCESS_BYTES = 4 * 2 ** 30;

if (isMainThread) await serve();
else runStatements();

async function serve(): Promise<void> {
  limitProcessMemory(PROCESS_BYTES, 1, silentLogger);
  const thread = new Worker(new URL(import.meta.url));
  const next = (): Promise<unknown> => new Promise((resolve) => thread.once('message', resolve));
  const address = (await next()) as bigint;
  process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.on('message', (sql: string) => void answer(sql));
  process.send?.('ready');

  async function answer(sql: string): Promise<void> {
    const ended = next();
    thread.postMessage(sql, []);
    const timer = new AbortController();
    const late = sleep(INTERRUPT_AFTER_MS, 'late', { signal: timer.signal }).catch(() => 'ended');
    let afterMs = 0;
    if ((await Promise.race([ended, late])) === 'late') {
      const before = process.cpuUsage();
      const again = setInterval(() => interruptConnection(address), INTERRUPT_INTERVAL_MS);
      await ended;
      clearInterval(again);
      const { user, system } = process.cpuUsage(before);
      afterMs = (user + system) / 1_000;
    }
    timer.abort();
    process.send?.(Math.round(afterMs));
  }
}

function runStatements(): void {
  const port = must(parentPort, 'a thread has a port');
  const connection = Instance.open({ threads: '1', memory_limit: MEMORY, temp_directory: '' }).connect();
  connection.run('SET enable_external_access = false');
  for (const sql of BOUNDED_FAMILIES.flatMap(boundSql)) connection.run(sql);
  port.on('message', (sql: string) => {
    try {
      using prepared = new PreparedStatement(connection, sql);
      using statement = new Statement(prepared);
      while (statement.step() !== 'ready');
      for (let chunk = statement.fetch(); chunk !== undefined; chunk = statement.fetch()) destroyChunk(chunk);
    } catch {
      // Most of these calls are errors; only the time matters.
    }
    port.postMessage('ended', []);
  });
  port.postMessage(connection.address, []);
}
