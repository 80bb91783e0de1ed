import fc from 'fast-check';
import { expect } from 'vitest';
import { must } from '#shared/must.ts';
import { FairQueue } from '#worker/run/fair-queue.ts';

/** Levels so far apart that no task of a simulation leaves its own. */
const LEVELS_MS = [1e8, 2e8, 3e8, 4e8];
const QUANTUM_MAX_MS = 20;
/** Time of a slot that the lowest of five levels of one of nine principals has in a simulation: 5 % of it are some quanta. */
const LOWEST_MS = 1_500;
const TOTAL_MS = 31 * 9 * LOWEST_MS;
const TOLERANCE = 0.05;

/** For each tenant, for each of its principals, the levels of its tasks. */
type Cluster = readonly (readonly (readonly number[])[])[];

const cluster: fc.Arbitrary<Cluster> = fc.array(
  fc.array(fc.array(fc.integer({ min: 0, max: 4 }), { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 3 }),
  { minLength: 1, maxLength: 3 },
);

type Task = { readonly id: string; readonly tenant: string; readonly principal: string; readonly level: number };

const tasksOf = (those: Cluster): readonly Task[] =>
  those.flatMap((principals, t) =>
    principals.flatMap((levels, p) =>
      levels.map((level, i) => ({ id: `${t}/${p}/${i}`, tenant: `t${t}`, principal: `t${t}p${p}`, level })),
    ),
  );

const add = (queue: FairQueue, { id, tenant, principal, level }: Task): void =>
  queue.add(
    id,
    { tenant, principal },
    { scheduledMs: level === 0 ? 0 : must(LEVELS_MS[level - 1], 'a level'), pinned: false },
  );

const newQueue = (tasks: readonly Task[]): FairQueue => {
  const queue = new FairQueue();
  queue.setSpec({ levelsMs: LEVELS_MS, levelWeightRatio: 2 });
  for (const task of tasks) add(queue, task);
  return queue;
};

/** Gives turns on the slots of so many generated clusters. @throws with the smallest cluster in which a turn is wrong */
export function simulateSlots(clusters: number): void {
  const quanta = fc.array(fc.integer({ min: 1, max: QUANTUM_MAX_MS }), { minLength: 50, maxLength: 50 });
  fc.assert(
    fc.property(cluster, quanta, (those, lengths) => checkShares(tasksOf(those), lengths)),
    { numRuns: clusters },
  );
  const change = fc.record({ kind: fc.constantFrom('block', 'wake', 'remove', 'turn', 'turn'), task: fc.nat() });
  fc.assert(
    fc.property(cluster, fc.array(change, { minLength: 50, maxLength: 100 }), (those, changes) =>
      checkTurns(tasksOf(those), changes),
    ),
    { numRuns: 10 * clusters },
  );
}

/** All tasks can always run: the slot's time is divided evenly, but between levels 2 : 1. */
function checkShares(tasks: readonly Task[], quanta: readonly number[]): void {
  const queue = newQueue(tasks);
  const byId = new Map(tasks.map((task) => [task.id, task]));
  const tenants = new Map<string, number>();
  const principals = new Map<string, number>();
  const levels = new Map<string, number>();
  const count = (map: Map<string, number>, key: string, ms: number): void =>
    void map.set(key, (map.get(key) ?? 0) + ms);
  let spentMs = 0;
  for (let turn = 0; spentMs < TOTAL_MS; turn++) {
    const id = must(queue.pick(), 'work is conserved: tasks can run, so one has its turn');
    const task = must(byId.get(id), 'it was added');
    const ms = must(quanta[turn % quanta.length], 'a quantum');
    queue.charge(id, ms);
    spentMs += ms;
    count(tenants, task.tenant, ms);
    count(principals, task.principal, ms);
    count(levels, `${task.principal}/${task.level}`, ms);
  }
  const equal = (name: string, map: ReadonlyMap<string, number>, keys: ReadonlySet<string>): void => {
    for (const key of keys) {
      const share = (map.get(key) ?? 0) / ([...keys].reduce((sum, one) => sum + (map.get(one) ?? 0), 0) / keys.size);
      expect(Math.abs(share - 1), `${name} ${key}`).toBeLessThanOrEqual(TOLERANCE);
    }
  };
  equal('tenant', tenants, new Set(tasks.map(({ tenant }) => tenant)));
  for (const tenant of tenants.keys()) {
    const own = tasks.filter((task) => task.tenant === tenant);
    equal('principal', principals, new Set(own.map(({ principal }) => principal)));
  }
  for (const principal of principals.keys()) {
    const own = new Set(tasks.filter((task) => task.principal === principal).map(({ level }) => level));
    const weighed = [...own].map((level) => (levels.get(`${principal}/${level}`) ?? 0) * 2 ** level);
    const mean = weighed.reduce((sum, ms) => sum + ms, 0) / weighed.length;
    for (const ms of weighed) expect(Math.abs(ms / mean - 1), `levels of ${principal}`).toBeLessThanOrEqual(TOLERANCE);
  }
}

type Change = { readonly kind: string; readonly task: number };

/** Tasks block, wake and end: while one can run, one has its turn, and then each that can run has one before long. */
function checkTurns(tasks: readonly Task[], changes: readonly Change[]): void {
  const queue = newQueue(tasks);
  const runnable = new Set(tasks.map(({ id }) => id));
  const blocked = new Set<string>();
  const turn = (): string | undefined => {
    const id = queue.pick();
    expect(id === undefined).toBe(runnable.size === 0);
    if (id === undefined) return undefined;
    expect(runnable).toContain(id);
    queue.charge(id, QUANTUM_MAX_MS);
    return id;
  };
  for (const { kind, task } of changes) {
    const { id } = must(tasks[task % tasks.length], 'a task');
    if (kind === 'turn') turn();
    if (kind === 'block' && runnable.delete(id)) {
      queue.block(id);
      blocked.add(id);
    }
    if (kind === 'wake' && blocked.delete(id)) {
      queue.wake(id);
      runnable.add(id);
    }
    if (kind === 'remove' && (runnable.delete(id) || blocked.delete(id))) queue.remove(id);
  }
  const waits = new Set(runnable);
  // Five levels, three tenants of three principals, and five tasks on the lowest level of one of them.
  const turnsMax = 31 * 9 * 5 + changes.length * 31;
  for (let i = 0; waits.size > 0; i++) {
    expect(i, `turns until ${[...waits].join()} had one`).toBeLessThan(turnsMax);
    waits.delete(turn() ?? '');
  }
}
