import { setTimeout as sleep } from 'node:timers/promises';
import type { Victim } from './chaos-cluster.ts';

/** Numbers from 0 to below 1 that depend on the seed alone (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Fault = { readonly kind: FaultKind; readonly victim: Victim; readonly forMs: number };
type FaultKind = keyof typeof FAULTS;

/** Faults of a worker; after each the worker is free to go on. */
const FAULTS = {
  /** Its supervisor starts it again. */
  kill: async ({ victim }: Fault) => signal(await victim.pid(), 'SIGKILL'),
  /** It hangs; it counts as lost only after the timeout of the heartbeat. */
  stop: async ({ victim, forMs }: Fault) => {
    const pid = await victim.pid();
    signal(pid, 'SIGSTOP');
    await sleep(forMs);
    signal(pid, 'SIGCONT');
  },
  unplug: async ({ victim, forMs }: Fault) => {
    await victim.unplug(true);
    await sleep(forMs);
    await victim.unplug(false);
  },
  drop: ({ victim }: Fault) => Promise.resolve(victim.dropConnections?.()),
  delay: async ({ victim, forMs }: Fault) => {
    victim.delay?.(DELAY_MS);
    await sleep(forMs);
    victim.delay?.(0);
  },
} as const;

const DELAY_MS = 40;
const FAULT_MS_MIN = 500;
const FAULT_MS_MAX = 8_000;

/** A fault that its victim can suffer. */
export function randomFault(random: () => number, victims: readonly Victim[]): Fault {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)] as T;
  const victim = pick(victims);
  const possible: Readonly<Record<FaultKind, boolean>> = {
    kill: true,
    stop: true,
    unplug: true,
    drop: victim.dropConnections !== undefined,
    delay: victim.delay !== undefined,
  };
  const kind = pick((Object.keys(FAULTS) as FaultKind[]).filter((one) => possible[one]));
  const forMs = Math.round(FAULT_MS_MIN + random() * (FAULT_MS_MAX - FAULT_MS_MIN));
  return { kind, victim, forMs };
}

export const inflict = (fault: Fault): Promise<unknown> => FAULTS[fault.kind](fault);

/** A worker that is being started again has no process, and is recorded with 0: to the system that means the caller's own group. */
function signal(pid: number | undefined, name: NodeJS.Signals): void {
  if (pid === undefined || pid <= 0) return;
  try {
    process.kill(pid, name);
  } catch {
    // It has died already.
  }
}
