import { spawn, type ChildProcess } from 'node:child_process';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { must } from '#shared/must.ts';
import type { HostOrder, HostReport, PlannerOptions } from './planner-message.ts';

/**
 * Entry of the process that starts planners and kills them. It stays small, because Node starts a process by a fork of its own, whose time
 * grows with the memory of the process, and a coordinator's is large. It ends when the channel to its coordinator closes, and all planners
 * end with it; the folder of the coordinator, which is its argument, goes then, because the coordinator may have been killed.
 */
const ENTRY = fileURLToPath(new URL('planner-process.ts', import.meta.url));
/** JavaScript's own heap of a planner process: it holds one syntax tree or plan at a time. */
const JS_HEAP_MIB = 512;
/**
 * V8's optimizing compiler takes 50 to 120 MiB for each large function of Postgres' parser, and keeps them: the parser is fast enough without.
 */
const FLAGS = [`--max-old-space-size=${JS_HEAP_MIB}`, '--liftoff-only'];

const FOLDER = must(process.argv[2], 'the coordinator names its folder');
const planners = new Map<number, ChildProcess>();
/** A report that cannot be sent is dropped: the coordinator is gone. */
const report = (message: HostReport): void => {
  if (process.connected) process.send?.(message, () => undefined);
};

// Signals reach the whole group of processes; the coordinator decides when this one ends.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);

process.on('message', (order: HostOrder) => {
  if (order.kind === 'kill') planners.get(order.planner)?.kill('SIGKILL');
  else start(order.options);
});
process.on('disconnect', () => {
  for (const one of planners.values()) one.kill('SIGKILL');
  exitWithoutPlanners();
});

/** Removes the folder and exits, once the channel is closed and no planner is left. */
function exitWithoutPlanners(): void {
  if (process.connected || planners.size > 0) return;
  rmSync(FOLDER, { recursive: true, force: true });
  process.exit();
}

function start(options: PlannerOptions): void {
  const { planner } = options;
  const one = spawn(process.execPath, [...FLAGS, ENTRY, JSON.stringify(options)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  planners.set(planner, one);
  const end = (): void => {
    if (planners.delete(planner)) report({ kind: 'ended', planner });
    exitWithoutPlanners();
  };
  one.on('error', end);
  one.on('exit', end);
  if (one.pid !== undefined) report({ kind: 'started', planner, pid: one.pid });
}
