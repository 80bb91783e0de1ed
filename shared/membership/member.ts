/** A process of the cluster as the others find it. */
export type Member = {
  readonly kind: 'worker' | 'coordinator';
  /** Unique per process start. */
  readonly id: string;
  /** Name for people; stable over restarts. */
  readonly name: string;
  /** `host:port` of its internal gRPC. */
  readonly address: string;
};

/** Lists the live members. The list may be stale by a lease's time to live: callers must find out whether a member answers. */
export interface Membership {
  /** Calls `onChange` with all members of the kind, soon and after every change, never twice with the same list. */
  watch(kind: Member['kind'], onChange: (members: readonly Member[]) => void): void;
  close(): Promise<void>;
}

/** The member that a text of etcd describes; undefined when it describes none of the kind. */
export function parseMember(text: string, kind: Member['kind']): Member | undefined {
  let read: Partial<Record<keyof Member, unknown>> | null;
  try {
    read = JSON.parse(text) as typeof read;
  } catch {
    return undefined;
  }
  const { id, name, address } = read ?? {};
  if (read?.kind !== kind || typeof id !== 'string' || typeof name !== 'string' || typeof address !== 'string') {
    return undefined;
  }
  return { kind, id, name, address };
}

/** `host:port` of `http://host:port/`, `grpc://host:port` or `host:port`. */
export const memberAddress = (url: string): string =>
  url
    .trim()
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/(?<!\/)\/+$/, '');
