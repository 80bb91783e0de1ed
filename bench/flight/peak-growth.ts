import { readFile, writeFile } from 'node:fs/promises';

const KIB_PER_MIB = 1_024;
/** Written to `clear_refs`, it sets the peak of a process's memory back to what it has now. */
const RESET_PEAK = '5';

/** The most memory that a process has had while certain work ran, beyond what it had at first, in MiB. */
export class PeakGrowth {
  readonly #pid: number;
  readonly #before: number;
  #peak = 0;

  private constructor(pid: number, before: number) {
    this.#pid = pid;
    this.#before = before;
  }

  static async startingNow(pid: number): Promise<PeakGrowth> {
    return new PeakGrowth(pid, await memoryOf(pid, 'VmRSS'));
  }

  async during<T>(work: () => Promise<T>): Promise<T> {
    await writeFile(`/proc/${this.#pid}/clear_refs`, RESET_PEAK);
    const result = await work();
    this.#peak = Math.max(this.#peak, await memoryOf(this.#pid, 'VmHWM'));
    return result;
  }

  get grownMB(): number {
    return Math.max(0, this.#peak - this.#before);
  }
}

/** @throws Error when the process is gone: figures of another that took its place would be wrong */
async function memoryOf(pid: number, figure: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const kib = new RegExp(String.raw`^${figure}:\s+(\d+) kB$`, 'm').exec(status)?.[1];
  if (kib === undefined) throw new Error(`process ${pid} tells no ${figure}`);
  return Number(kib) / KIB_PER_MIB;
}
