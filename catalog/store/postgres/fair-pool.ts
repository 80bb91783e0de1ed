import { Pool, type PoolClient, type PoolConfig } from 'pg';
import { FairGate } from '#shared/fair/fair-gate.ts';
import { currentAsking } from './on-behalf-of.ts';

/** Most requests for a connection that wait. */
const WAITING_MAX = 10_000;

type Connected = (error: Error | undefined, client: PoolClient | undefined, release: PoolClient['release']) => void;

/**
 * A pool whose connections go around tenants, and around the principals of one, so that a tenant with hundreds of requests keeps no other
 * tenant's waiting. Who asks is what `onBehalfOf` says. A transaction that asks for a second connection does not wait for its turn: those
 * who have one might wait for one another.
 */
export class FairPool extends Pool {
  readonly #gate: FairGate;
  readonly #leave = new WeakMap<PoolClient, () => void>();

  constructor(config: PoolConfig & { readonly max: number; readonly connectionTimeoutMillis: number }) {
    super(config);
    this.#gate = new FairGate({
      atOnce: config.max,
      waitingMax: WAITING_MAX,
      waitMsMax: config.connectionTimeoutMillis,
      what: 'a connection to Postgres',
    });
    this.on('release', (_error, client) => {
      const leave = this.#leave.get(client);
      this.#leave.delete(client);
      leave?.();
    });
  }

  override connect(): Promise<PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<PoolClient> | void {
    const client = currentAsking().isHolding === true ? super.connect() : this.#inTurn(() => super.connect());
    if (connected === undefined) return client;
    client.then(
      (one) => connected(undefined, one, (error) => one.release(error)),
      (error: Error) => connected(error, undefined, () => undefined),
    );
  }

  async #inTurn(connect: () => Promise<PoolClient>): Promise<PoolClient> {
    const leave = await this.#gate.enter(currentAsking()).catch((cause: unknown) => {
      // As the pool itself says it.
      throw new Error('timeout exceeded when trying to connect', { cause });
    });
    try {
      const client = await connect();
      this.#leave.set(client, leave);
      return client;
    } catch (error) {
      leave();
      throw error;
    }
  }
}
