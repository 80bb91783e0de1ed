import type { OutputSpec, TaskSpec } from '#shared/task/task.ts';
import type { ScanAccess } from '#shared/ticket.ts';
import type { TaskId, TenantId } from '#shared/id.ts';
import type { Keyring } from '#shared/keyring.ts';
import { credentialId, type StoreCredential } from '#shared/storage/credential.ts';
import { grantsOf, signTicket } from '#shared/ticket.ts';
import type { LiveWorker } from '../cluster/worker-pool.ts';
import { ticketUntil, type TaskOwner } from './task-spec.ts';

export type KeyServices = {
  readonly keyring: Keyring;
  /** Gives a key in place of one that ends, or that the store has refused. */
  readonly renewKey: (tenant: TenantId, key: StoreCredential) => Promise<StoreCredential>;
};

/** Time in which a worker confirms that it has a key. */
const SEND_TIMEOUT_MS = 5_000;

type KeyTask = { readonly worker: LiveWorker; readonly id: TaskId; access: readonly ScanAccess[] };

const accessOf = ({ scans, output }: { readonly scans: readonly ScanAccess[]; readonly output: OutputSpec }) =>
  [...scans, ...('sink' in output ? [output.sink] : [])].map(({ allowedRoots, credential }) => ({
    allowedRoots,
    credential,
  }));

/**
 * The keys of the running tasks of one run. A worker says which key its tasks need another one for: the catalog gives it, and each of these
 * tasks gets it with a ticket that covers it.
 */
export class RunKeys {
  readonly #scheduler: KeyServices;
  readonly #owner: TaskOwner;
  readonly #tasks = new Map<TaskId, KeyTask>();
  /** Newer keys, or those that are asked for, by the ids of the keys that they replace. */
  readonly #newer = new Map<string, Promise<StoreCredential>>();
  readonly #sending = new Set<string>();

  constructor(scheduler: KeyServices, owner: TaskOwner) {
    this.#scheduler = scheduler;
    this.#owner = owner;
  }

  /** A task is sent. */
  add(worker: LiveWorker, { taskId: id, ...spec }: Pick<TaskSpec, 'taskId' | 'scans' | 'output'>): void {
    const access = accessOf(spec);
    if (access.some(({ credential }) => credential.kind !== 'file')) this.#tasks.set(id, { worker, id, access });
  }

  /** A task has ended. */
  remove(id: TaskId): void {
    this.#tasks.delete(id);
  }

  /** Sends the tasks of a worker that have this key another one. A failure is left to the next heartbeat, which asks again. */
  wanted(worker: string, id: string): void {
    const key = `${worker}/${id}`;
    if (this.#sending.has(key)) return;
    this.#sending.add(key);
    const tasks = [...this.#tasks.values()].filter(
      (task) => task.worker.info.id === worker && task.access.some(({ credential }) => credentialId(credential) === id),
    );
    void Promise.all(tasks.map((task) => this.#send(task, id)))
      .catch(() => this.#newer.delete(id))
      .finally(() => this.#sending.delete(key));
  }

  async #send(task: KeyTask, id: string): Promise<void> {
    const old = task.access.find(({ credential }) => credentialId(credential) === id)?.credential;
    if (old === undefined || old.kind === 'file') return;
    const { keyring } = this.#scheduler;
    const { queryId, tenant, principal, epoch } = this.#owner;
    const credential = await this.#newest(old);
    const access = task.access.map((one) => (credentialId(one.credential) === id ? { ...one, credential } : one));
    const granted = access.filter((one) => one.credential === credential);
    const opens = { taskId: task.id, partition: 0, grants: grantsOf(granted) };
    const ticket = signTicket(
      { queryId, tenant, principal, epoch, expiresAtMs: ticketUntil(this.#owner), ...opens },
      keyring,
    );
    const sent = { ticket, old_credential_id: id, credential: Buffer.from(JSON.stringify(credential)) };
    await task.worker.link.calls.call('RenewKey', sent, { timeoutMs: SEND_TIMEOUT_MS });
    task.access = access;
  }

  /** The last of the keys that came one in place of another; the first is asked for. */
  async #newest(old: StoreCredential): Promise<StoreCredential> {
    const id = credentialId(old);
    const asked = this.#newer.get(id) ?? this.#ask(old);
    this.#newer.set(id, asked);
    let newest = await asked;
    for (;;) {
      const next = this.#newer.get(credentialId(newest));
      if (next === undefined) return newest;
      newest = await next;
    }
  }

  async #ask(old: StoreCredential): Promise<StoreCredential> {
    const key = await this.#scheduler.renewKey(this.#owner.tenant, old);
    // It is the last one, whatever it was before.
    this.#newer.delete(credentialId(key));
    return key;
  }
}
