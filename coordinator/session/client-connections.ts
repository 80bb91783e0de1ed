import { randomInt } from 'node:crypto';
import type { PrincipalId, TenantId } from '#shared/id.ts';

/** Numbers of connections are below, those of statements that came by no connection with a number begin here. */
const CONNECTION_PID_MAX = 2 ** 30;
const STATEMENT_PID_MAX = 2 ** 31 - 1;

/** The state of a connection, as `pg_stat_activity` names it. */
export type ConnectionState = 'active' | 'idle' | 'idle in transaction' | 'idle in transaction (aborted)';

/** A connection of a client who has signed in, by its number; protocols without such numbers have none. */
export type ClientConnection = {
  readonly pid: number;
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly username: string;
  readonly address: string;
  readonly port: number;
  readonly sinceMs: number;
  /** The program as the client names it now. */
  readonly program: () => string;
  readonly state: () => ConnectionState;
  /** Cancels the statement that it runs, if it does. */
  readonly cancel: (reason: string) => void;
  /** Ends the connection, and the statement that it runs. */
  readonly end: () => void;
};

/** The connections that clients see in `pg_stat_activity`, and can end. */
export class ClientConnections {
  readonly #connections = new Map<number, ClientConnection>();

  /** A number that no connection has. */
  freePid(): number {
    let pid = randomInt(1, CONNECTION_PID_MAX);
    while (this.#connections.has(pid)) pid = randomInt(1, CONNECTION_PID_MAX);
    return pid;
  }

  add(connection: ClientConnection): Disposable {
    this.#connections.set(connection.pid, connection);
    return { [Symbol.dispose]: () => this.#connections.delete(connection.pid) };
  }

  find(tenant: TenantId, pid: number): ClientConnection | undefined {
    const found = this.#connections.get(pid);
    return found?.tenant === tenant ? found : undefined;
  }

  /** Those of a tenant, or of one of its principals; null = of all. */
  of(tenant: TenantId, principal: PrincipalId | null): readonly ClientConnection[] {
    return [...this.#connections.values()].filter(
      (one) => one.tenant === tenant && (principal === null || one.principal === principal),
    );
  }
}

/** A number for a statement that came by no connection with one. */
export const statementPid = (): number => randomInt(CONNECTION_PID_MAX, STATEMENT_PID_MAX);
