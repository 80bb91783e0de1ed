import type { HistoryRow } from './history-record.ts';

/** A record as Postgres gets it. */
export type PrintedRecord = {
  readonly recordId: string;
  /** Its row of `coordinator.query_history`, as JSON. */
  readonly row: Buffer;
  /** How its statement's queries ran, as JSON; null = nothing is kept of it. */
  readonly profile: string | null;
};

const [HEAD, MIDDLE, END] = ['{"record":', ',"profile":', '}\n'];
const WITHOUT_PROFILE = `${MIDDLE}null${END}`;

/** Prints a record, as Postgres gets it, and its line in the journal: `{"record":...,"profile":null}`. */
export function printRecord(row: HistoryRow): { readonly row: Buffer; readonly line: Buffer } {
  // A Date among the values would cost as much as all others.
  const times = {
    queued_at: isoTime(row.queued_at),
    started_at: isoTime(row.started_at),
    ended_at: isoTime(row.ended_at),
  };
  const line = Buffer.from(`${HEAD}${JSON.stringify({ ...row, ...times })}${WITHOUT_PROFILE}`);
  return { row: line.subarray(HEAD.length, -WITHOUT_PROFILE.length), line };
}

const isoTime = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The line of a record that was printed. Its profile is JSON, and stays as it is. */
export const recordLine = (row: Buffer, profile: string | null): Buffer =>
  Buffer.concat([Buffer.from(HEAD), row, Buffer.from(`${MIDDLE}${profile}${END}`)]);

/** Reads a line of the journal; undefined for one that was cut by the end of the disk's room. */
export function readRecord(line: string): (PrintedRecord & Pick<HistoryRow, 'epoch'>) | undefined {
  let read: { readonly record: HistoryRow; readonly profile: unknown } | OldLine;
  try {
    read = JSON.parse(line) as typeof read;
  } catch {
    return undefined;
  }
  // Releases before 009-profiles-in-batches wrote the row alone, with its profile as a text.
  const { record, profile } = 'record' in read ? { ...read, profile: JSON.stringify(read.profile) } : flat(read);
  return {
    recordId: record.record_id,
    row: Buffer.from(JSON.stringify(record)),
    profile: profile === 'null' ? null : profile,
    epoch: record.epoch,
  };
}

type OldLine = HistoryRow & { readonly profile: string | null };

const flat = ({ profile, ...record }: OldLine): { record: HistoryRow; profile: string | null } => ({ record, profile });
