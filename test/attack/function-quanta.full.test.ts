import { DuckDBInstance } from '@duckdb/node-api';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { isFunctionAllowed } from '#coordinator/binding/function-policy.ts';
import { must } from '#shared/must.ts';
import { cpuMs } from '#test/support/worker-process.ts';
import { largeCalls, type Signature } from './large-arguments.ts';

/**
 * The law: every quantum ends within this time after its interrupt, in CPU time of its process, because other processes compete for the
 * cores.
 */
const OBEY_MS_MAX = 2_000;
/** A process that has used this much CPU time counts as hung: its statement was interrupted long ago. */
const HUNG_MS = OBEY_MS_MAX + 2_000;
const LOOK_INTERVAL_MS = 100;

let child: ChildProcess | undefined;

afterAll(() => child?.kill('SIGKILL'));

async function probe(): Promise<ChildProcess> {
  if (child !== undefined && child.exitCode === null && child.signalCode === null) return child;
  const script = fileURLToPath(new URL('quantum-probe.ts', import.meta.url));
  const started = fork(script, { execArgv: ['--disable-warning=ExperimentalWarning'], stdio: 'ignore' });
  await once(started, 'message');
  child = started;
  return started;
}

/** How a call ended: in time, too late, or with the process. */
async function outcome(sql: string): Promise<'fine' | 'slow' | 'crash'> {
  const process = await probe();
  const seen = new AbortController();
  const { signal } = seen;
  const end = await Promise.race([
    once(process, 'message', { signal }).then(([afterMs]) => (Number(afterMs) > OBEY_MS_MAX ? 'slow' : 'fine')),
    once(process, 'exit', { signal }).then(() => 'crash' as const),
    hung(must(process.pid, 'it has started'), signal),
    new Promise<never>((_resolve, reject) =>
      process.send(sql, (error) => (error === null ? undefined : reject(error))),
    ),
  ]);
  seen.abort();
  if (end !== 'hung') return end;
  process.kill('SIGKILL');
  await once(process, 'exit');
  return 'slow';
}

/** Resolves when the process has worked for too long. */
async function hung(pid: number, signal: AbortSignal): Promise<'hung'> {
  const startMs = cpuMs(pid);
  while (!signal.aborted && cpuMs(pid) - startMs < HUNG_MS) await sleep(LOOK_INTERVAL_MS);
  return 'hung';
}

async function served(): Promise<readonly Signature[]> {
  const connection = await (await DuckDBInstance.create(':memory:')).connect();
  const reader = await connection.runAndReadAll(
    `SELECT DISTINCT lower(function_name), function_type, list_transform(parameter_types || CASE WHEN varargs IS NULL THEN [] ELSE
     [varargs, varargs] END, lambda x: coalesce(x, 'null')) FROM duckdb_functions() WHERE function_type IN ('scalar', 'macro') ORDER BY ALL`,
  );
  return (reader.getRowsJson() as [string, string, string[]][])
    .map(([name, kind, types]) => ({ name, kind, types }))
    .filter(({ name }) => isFunctionAllowed(name) && !name.startsWith('icu_collate'));
}

test('no served function crashes the process, and each obeys an interrupt, whatever its arguments are', async () => {
  const calls = new Set((await served()).flatMap(largeCalls));
  const slow: string[] = [];
  const crashes: string[] = [];
  for (const sql of calls) {
    const end = await outcome(sql);
    if (end === 'slow') slow.push(sql);
    if (end === 'crash') crashes.push(sql);
  }
  expect(crashes).toEqual([]);
  expect(slow).toEqual([]);
  expect(calls.size).toBeGreaterThan(1_000);
}, 3_600_000);
