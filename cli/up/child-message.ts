import type { ErrorData } from '#shared/error.ts';

/** How the start of a child ended: what it tells the launcher, or its supervisor, over the IPC channel, once. */
export type StartMessage =
  | {
      readonly kind: 'ready';
      /** Of the process that does the work, when it is not the child itself (the postmaster). */
      readonly pid?: number;
      readonly generatedAdminPassword?: string;
      /** Where the service is, as the line of one without a launcher says it. */
      readonly said?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** What a child tells over that channel; `endangered`: it has reason to expect its own end, so that its standby is worth its cost. */
export type ChildMessage = StartMessage | { readonly kind: 'endangered' };

/** What the launcher tells `postgres-process.ts`, which ignores signals: it must outlive the services that write to it. */
export type StopMessage = { readonly kind: 'stop' };

/** What a standby is told when it is to take the place of the process before it. */
export type TakeOverMessage = { readonly kind: 'take-over' };

export const isStartMessage = (message: unknown): message is StartMessage =>
  ['ready', 'failed'].includes(kindOf(message));

export const isKind = (message: unknown, kind: (ChildMessage | TakeOverMessage)['kind']): boolean =>
  kindOf(message) === kind;

const kindOf = (message: unknown): string => String((message as { kind?: unknown } | null)?.kind);
