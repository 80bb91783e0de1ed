import { SkeinError } from '#shared/error.ts';
import type { Asker } from '#shared/fair/asker.ts';
import { freeMessage } from '../flight/arrow-message.ts';
import type { Attempt } from './attempt.ts';
import type { Slot } from './slot.ts';
import type { SlotOutput, SlotStart } from './slot-messages.ts';

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

/** A task on its way through the slots, as the main thread sees it. */
export class SlotRun implements Asker {
  readonly start: SlotStart;
  readonly tenant: string;
  readonly principal: string;
  /** Tenant and principal in one: whose quanta are counted together. */
  readonly owner: string;
  readonly #onOutput: (output: SlotOutput) => void;
  readonly #onWaiting: (run: SlotRun) => void;
  readonly #ended = Promise.withResolvers<void>();
  readonly #attempts: Promise<boolean>[] = [];
  #state: RunState = { kind: 'waiting' };
  #cancelled: SkeinError | undefined;
  /** Messages without rows that have been passed on, and how many of them the present attempt must still repeat. */
  #heads = 0;
  #headsToSkip = 0;
  #hasRows = false;
  #stepsBack = false;
  #wasWithdrawn = false;

  /** `onWaiting` is told when the task wants a slot again. */
  constructor(start: SlotStart, onOutput: (output: SlotOutput) => void, onWaiting: (run: SlotRun) => void) {
    this.start = start;
    this.tenant = start.spec.tenant;
    this.principal = start.spec.principal;
    this.owner = ownerOf(start.spec);
    this.#onOutput = onOutput;
    this.#onWaiting = onWaiting;
  }

  get queryId(): string {
    return this.start.spec.queryId;
  }

  /** Settles when the task has ended, whatever became of it; never rejects. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Whether every thread that began it has come to its end, once it has ended. */
  get hasLeft(): boolean {
    return !this.#wasWithdrawn;
  }

  /** Settles when no thread has anything of it any more, its inputs included; never rejects. */
  async left(): Promise<void> {
    await this.ended;
    await Promise.all(this.#attempts);
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  isOn(attempt: Attempt): boolean {
    return this.#state.kind === 'running' && this.#state.attempt === attempt;
  }

  get isWaiting(): boolean {
    return this.#state.kind === 'waiting';
  }

  /** Time on a thread that would be lost if it began again; infinite when it has given rows, which cannot be taken back. */
  get investedMs(): number {
    if (this.#hasRows) return Number.POSITIVE_INFINITY;
    return this.#state.kind === 'running' ? this.#state.attempt.scheduledMs : 0;
  }

  /** Begins on a slot. */
  place(slot: Slot, job: number): void {
    if (this.#state.kind !== 'waiting') return;
    this.#headsToSkip = this.#heads;
    this.#stepsBack = false;
    const attempt: Attempt = slot.begin(job, this.start, (output) => this.#accept(attempt, output));
    this.#state = { kind: 'running', attempt, slot };
    this.#attempts.push(attempt.left);
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
    // The thread itself failed: there was no last word.
    if (!hasEnded) this.#onOutput({ kind: 'failed', error: { code: 'INTERNAL_ERROR', message: 'internal error' } });
    this.#end();
  }

  /** So many bytes were taken by the reader, or stored: the task may make more. */
  taken(bytes: number): void {
    if (this.#state.kind === 'running') this.#state.attempt.post({ kind: 'taken', bytes });
  }

  /** Ends the task with this error, also inside of a piece of work. */
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
    // What obeys is to end soon, also where others want the core.
    if (slot.life === 'slow') slot.stepForward();
  }

  /** Its slot is stuck with another task: a cancelled one ends, any other waits for a new slot. */
  leaveSlot(): void {
    if (this.#state.kind !== 'running') return;
    this.#state.attempt.withdraw();
    this.#wasWithdrawn = true;
    this.#state = { kind: 'waiting' };
    if (this.#cancelled === undefined) this.#onWaiting(this);
    else this.#fail(this.#cancelled);
  }

  /** It was cancelled and its thread does not obey: nobody waits for that. */
  abandon(): void {
    if (this.#state.kind !== 'running' || this.#cancelled === undefined) return;
    this.#wasWithdrawn = true;
    this.#fail(this.#cancelled);
  }

  /** Its quantum is long, and its principal has enough of those: it begins again later, if it obeys and has given nothing yet. */
  stepBack(): void {
    if (this.#state.kind !== 'running' || this.#hasRows) return;
    this.#stepsBack = true;
    this.#state.attempt.nudge();
  }

  #accept(attempt: Attempt, output: SlotOutput): void {
    if (!this.isOn(attempt)) {
      if (output.kind === 'batch') freeMessage(output.message);
      return;
    }
    if (output.kind === 'failed' && this.#stepsBack && this.#cancelled === undefined) {
      // An interrupt says only that it was one.
      if (output.error.code === 'QUERY_CANCELLED') return;
      this.#stepsBack = false;
    }
    if (output.kind === 'failed' && this.#cancelled !== undefined) {
      // An interrupt may end it before the thread has heard why.
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

/** Tenant and principal of a task as one word. */
export const ownerOf = ({ tenant, principal }: SlotStart['spec']): string => `${tenant}/${principal}`;
