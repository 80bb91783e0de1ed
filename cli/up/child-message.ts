import type { ErrorData } from '#shared/error.ts';

/** Outcome of a child's start, sent once over the IPC channel to the launcher or supervisor. */
export type StartMessage =
  | {
      readonly kind: 'ready';
      /** Pid of the process that does the work, when it is not the child itself (the postmaster). */
      readonly pid?: number;
      readonly generatedAdminPassword?: string;
      /** Addresses of the service, as a service without a launcher prints them. */
      readonly said?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** A child's messages over the IPC channel. `endangered`: it expects that it may have to end, so a standby should be started. */
export type ChildMessage = StartMessage | { readonly kind: 'endangered' };

/** The launcher's request to stop `postgres-process.ts`, which ignores signals, because it must outlive the services that write to it. */
export type StopMessage = { readonly kind: 'stop' };

/** The request to a standby to take over from the previous process. */
export type TakeOverMessage = { readonly kind: 'take-over' };

export const isStartMessage = (message: unknown): message is StartMessage =>
  ['ready', 'failed'].includes(kindOf(message));

export const isKind = (message: unknown, kind: (ChildMessage | TakeOverMessage)['kind']): boolean =>
  kindOf(message) === kind;

const kindOf = (message: unknown): string => String((message as { kind?: unknown } | null)?.kind);
