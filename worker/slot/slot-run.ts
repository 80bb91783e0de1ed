import type { KillRank } from '#shared/task/task.ts';
import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { freeMessage } from '../batch/arrow-message.ts';
import type { Attempt } from './attempt.ts';
import type { Slot } from './slot.ts';
import type { FromSlot, QueryTime, RenewedKey, SlotOutput, SlotStart } from '../turns/slot-messages.ts';

/**
 * A task in the pool.
 * ```
 *   waiting ──place──> running ──its slot is stuck, or it steps back──> waiting
 *      └──cancel──> ended <──finished, failed, cancelled──┘
 * ```
 */
type RunState =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly attempt: Attempt; readonly slot: Slot }
  | { readonly kind: 'ended' };

/** The main thread's state of one task across its attempts on slots. */
export class SlotRun implements Asker {
  readonly start: SlotStart;
  readonly tenant: string;
  readonly principal: string;
  /** Tenant and principal as one key: long quanta are limited per owner. */
  readonly owner: string;
  readonly #onOutput: (output: SlotOutput) => void;
  readonly #onWaiting: (run: SlotRun) => void;
  readonly #ended = Promise.withResolvers<void>();
  readonly #attempts: Attempt[] = [];
  #state: RunState = { kind: 'waiting' };
  #cancelled: SkeinError | undefined;
  /** Messages without rows that were passed on, and how many repeats of them by the present attempt are still to be dropped. */
  #heads = 0;
  #headsToSkip = 0;
  #hasRows = false;
  #stepsBack = false;
  #wasWithdrawn = false;
  #leftExpress = false;
  readonly #wantedKeys = new Set<string>();
  readonly #renewedKeys: RenewedKey[] = [];
  #time: QueryTime;
  readonly #sinceMs = performance.now();

  /** `onWaiting` is called when the task needs a slot again. */
  constructor(start: SlotStart, onOutput: (output: SlotOutput) => void, onWaiting: (run: SlotRun) => void) {
    this.start = start;
    this.#time = start.spec;
    this.tenant = start.spec.tenant;
    this.principal = start.spec.principal;
    this.owner = ownerOf(start.spec);
    this.#onOutput = onOutput;
    this.#onWaiting = onWaiting;
  }

  get queryId(): string {
    return this.start.spec.queryId;
  }

  get killRank(): KillRank | null {
    return this.start.spec.killRank;
  }

  /** Resolves when the task has ended, successfully or not; never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether, once the task has ended, every thread that began it has finished with it. */
  get hasLeft(): boolean {
    return !this.#wasWithdrawn;
  }

  /** Resolves when no thread refers to the task or its inputs any more; never rejects. */
  async left(): Promise<void> {
    await this.ended;
    await Promise.all(this.#attempts.map(({ left }) => left));
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  isOn(attempt: Attempt): boolean {
    return this.#state.kind === 'running' && this.#state.attempt === attempt;
  }

  /** Whether the attempt is, or was, one of this task's. */
  began(attempt: Attempt): boolean {
    return this.#attempts.includes(attempt);
  }

  get isWaiting(): boolean {
    return this.#state.kind === 'waiting';
  }

  /** Thread time that a restart would lose; infinite once the task has sent rows, which cannot be taken back. */
  get investedMs(): number {
    if (this.#hasRows) return Number.POSITIVE_INFINITY;
    return this.#state.kind === 'running' ? this.#state.attempt.scheduledMs : 0;
  }

  /** Whether the express slot may run it: its query is interactive, it writes nothing, and it has not been there too long before. */
  get mayExpress(): boolean {
    return this.#time.pinnedToTop && !('sink' in this.start.spec.output) && !this.#leftExpress;
  }

  /** Time that the task has had on the thread that runs it, in ms. */
  get scheduledMs(): number {
    return this.#state.kind === 'running' ? this.#state.attempt.scheduledMs : 0;
  }

  /** Bytes of the column chunks that it reads: those of the last attempt that has begun to. */
  get bytesScanned(): number {
    return this.#attempts.findLast(({ bytesScanned }) => bytesScanned > 0)?.bytesScanned ?? 0;
  }

  /** Its query has had this time by now, over the whole cluster. */
  setTime(time: QueryTime): void {
    this.#time = time;
    if (this.#state.kind === 'running') this.#state.attempt.setTime(time);
  }

  /** Ids of the keys in whose place the task waits for others. */
  get wantedKeys(): readonly string[] {
    return [...this.#wantedKeys];
  }

  /** Brings the task a key in place of another. */
  renewKey(key: RenewedKey): void {
    this.#wantedKeys.delete(key.replaces);
    this.#renewedKeys.push(key);
    if (this.#state.kind === 'running') this.#state.attempt.post({ kind: 'key', ...key });
  }

  /** Starts an attempt on a slot. */
  place(slot: Slot, job: number): void {
    if (this.#state.kind !== 'waiting') return;
    this.#headsToSkip = this.#heads;
    this.#stepsBack = false;
    const { waits } = this.start;
    const queuedMs = waits.queuedMs + performance.now() - this.#sinceMs;
    const { scheduledMs, pinnedToTop } = this.#time;
    const spec = { ...this.start.spec, scheduledMs, pinnedToTop };
    const attempt: Attempt = slot.begin(job, { ...this.start, spec, waits: { ...waits, queuedMs } }, (output) =>
      this.#accept(attempt, output),
    );
    this.#state = { kind: 'running', attempt, slot };
    this.#attempts.push(attempt);
    for (const key of this.#renewedKeys) attempt.post({ kind: 'key', ...key });
    void this.#follow(attempt);
  }

  async #follow(attempt: Attempt): Promise<void> {
    const hasEnded = await attempt.left;
    if (!this.isOn(attempt)) return;
    if (this.#stepsBack && this.#cancelled === undefined) {
      this.#state = { kind: 'waiting' };
      this.#onWaiting(this);
      return;
    }
    // The thread itself failed, so the task's end was never reported.
    if (!hasEnded) this.#onOutput({ kind: 'failed', error: { code: 'INTERNAL_ERROR', message: 'internal error' } });
    this.#end();
  }

  /** The reader took, or the spool stored, this many bytes: the task may produce more. */
  taken(bytes: number): void {
    if (this.#state.kind === 'running') this.#state.attempt.post({ kind: 'taken', bytes });
  }

  /** Ends the task with this error, interrupting DuckDB if it is running. */
  cancel(error: SkeinError): void {
    if (this.#cancelled !== undefined || this.#state.kind === 'ended') return;
    this.#cancelled = error;
    if (this.#state.kind === 'waiting') {
      this.#fail(error);
      return;
    }
    const { attempt, slot } = this.#state;
    attempt.post({ kind: 'cancel', error: error.toData() });
    attempt.interrupt();
    // At normal priority the thread reaches its interrupt soon, even when other threads compete for the core.
    if (slot.life === 'slow') slot.stepForward();
  }

  /** Withdraws the task from a slot that another task blocks: a cancelled task ends, any other waits for a new slot. */
  leaveSlot(): void {
    if (this.#state.kind !== 'running') return;
    this.#state.attempt.withdraw();
    this.#wasWithdrawn = true;
    this.#state = { kind: 'waiting' };
    if (this.#cancelled === undefined) this.#onWaiting(this);
    else this.#fail(this.#cancelled);
  }

  /** Whether it can begin again on another slot. */
  get mayLeaveExpress(): boolean {
    return !this.#hasRows && !this.isCancelled;
  }

  /** Sends a task from the express slot to the others, where it begins again. */
  leaveExpress(): void {
    if (this.#state.kind !== 'running' || !this.mayLeaveExpress) return;
    this.#leftExpress = true;
    this.leaveSlot();
  }

  /** Reports a cancelled task as ended although its thread does not react to the interrupt. */
  abandon(): void {
    if (this.#state.kind !== 'running' || this.#cancelled === undefined) return;
    this.#wasWithdrawn = true;
    this.#fail(this.#cancelled);
  }

  /** Postpones a task with a long quantum whose principal is at its limit of those: it restarts later, unless it has sent rows. */
  stepBack(): void {
    if (this.#state.kind !== 'running' || this.#hasRows) return;
    this.#stepsBack = true;
    this.#state.attempt.nudge();
  }

  #accept(attempt: Attempt, output: FromSlot): void {
    if (output.kind === 'wantsKey') {
      this.#wantedKeys.add(output.credentialId);
      return;
    }
    if (!this.isOn(attempt)) {
      if (output.kind === 'batch') freeMessage(output.message);
      return;
    }
    if (output.kind === 'failed' && this.#stepsBack && this.#cancelled === undefined) {
      // The interrupt's own error does not carry the reason.
      if (output.error.code === 'QUERY_CANCELLED') return;
      this.#stepsBack = false;
    }
    if (output.kind === 'failed' && this.#cancelled !== undefined) {
      // The interrupt may end the task before the thread has received the cancel message with the reason.
      this.#onOutput({ kind: 'failed', error: this.#cancelled.toData() });
      return;
    }
    if (output.kind === 'finished') this.#stepsBack = false;
    if (output.kind === 'prologue' || (output.kind === 'data' && output.rows === 0)) {
      if (this.#headsToSkip > 0) {
        this.#headsToSkip--;
        attempt.post({ kind: 'taken', bytes: output.kind === 'data' ? output.data.length : 0 });
        return;
      }
      this.#heads++;
    } else if (output.kind === 'data' || output.kind === 'batch') {
      this.#hasRows = true;
      this.#stepsBack = false;
    }
    this.#onOutput(output);
  }

  #fail(error: SkeinError): void {
    this.#onOutput({ kind: 'failed', error: error.toData() });
    this.#end();
  }

  #end(): void {
    this.#state = { kind: 'ended' };
    this.#ended.resolve();
  }
}

/** Tenant and principal of a task as one key. */
export const ownerOf = ({ tenant, principal }: SlotStart['spec']): string => `${tenant}/${principal}`;
