import { Counter, type Registry } from 'prom-client';

/** How often a memory that exists for speed alone was asked, and had the answer. Threads may count in the same words. */
export class MemoryUses {
  /** Hits, and misses. */
  readonly words: Uint32Array<SharedArrayBuffer>;

  constructor(words = new Uint32Array(new SharedArrayBuffer(8))) {
    this.words = words;
  }

  count(isHit: boolean): void {
    Atomics.add(this.words, isHit ? 0 : 1, 1);
  }

  /** Counts a question by its answer, which it returns. */
  of<T>(found: T | undefined): T | undefined {
    this.count(found !== undefined);
    return found;
  }
}

/** Those of this process: a memory counts where it is, and the page of metrics has them all. */
const USES = new Map<string, MemoryUses>();

/** The counts of a memory; `docs/performance.md` lists the names. */
export function memoryUses(memory: string): MemoryUses {
  const uses = USES.get(memory) ?? new MemoryUses();
  USES.set(memory, uses);
  return uses;
}

/** Puts all counts onto a page of metrics: what was asked for since the process began. */
export function exportMemoryUses(registry: Registry): void {
  const reads = new Counter({
    name: 'skein_memory_reads_total',
    help: 'Questions to memories that exist for speed alone, by memory and outcome (hit, miss)',
    labelNames: ['memory', 'outcome'] as const,
    registers: [registry],
    collect: () => {
      reads.reset();
      for (const [memory, { words }] of USES) {
        reads.inc({ memory, outcome: 'hit' }, words[0]);
        reads.inc({ memory, outcome: 'miss' }, words[1]);
      }
    },
  });
}
