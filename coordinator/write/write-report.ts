import type { SnapshotChange } from '#shared/iceberg/write/snapshot-change.ts';
import type { NewDataFile } from '#shared/iceberg/write/data-file.ts';
import type { JsonObject } from '#shared/json.ts';
import { isPoliced } from '../operation/policed-table.ts';
import type { ObservedWrite } from '../operation/writes.ts';
import { inTenths } from '../profile/run-figures.ts';
import { printTarget, targetJson } from './explain-write.ts';
import { rowsOf } from './returned-rows.ts';
import type { CommittedChange, WriteObserver, WrittenTable } from './write-services.ts';

/** A statement's written files and its commit, for EXPLAIN ANALYZE. */
export class WriteReport implements ObservedWrite, WriteObserver {
  /** Times that the statement has begun: more than one when other commits came first. */
  #rounds = 0;
  #written: WrittenTable | undefined;
  #committed: CommittedChange | undefined;

  wrote(written: WrittenTable): void {
    this.#rounds += 1;
    this.#written = written;
    this.#committed = undefined;
  }

  committed(committed: CommittedChange): void {
    this.#committed = committed;
  }

  lines(): readonly string[] {
    if (this.#written === undefined) return ['Commit: none, no row has changed'];
    const { target, files, elapsedMs } = this.#written;
    // Files that are written anew have hidden rows in them.
    if (isPoliced(target)) return [`Sink: ${printTarget(target)}`, 'policies apply to the table'];
    const sink = [`Sink: ${printTarget(target)}`, `   ${facts({ ...sizeOf(files), elapsed_ms: inTenths(elapsedMs) })}`];
    if (this.#committed === undefined) return [...sink, 'Commit: none, no row has changed'];
    const { change } = this.#committed;
    return [
      ...sink,
      `Commit: ${change.operation} (${modeOf(change)})`,
      `   ${facts(this.#commitFacts(this.#committed))}`,
    ];
  }

  json(): JsonObject {
    if (this.#written === undefined) return { sink: null, commit: null };
    const { target, files, elapsedMs } = this.#written;
    if (isPoliced(target)) return { sink: targetJson(target), commit: null };
    const sink = { ...targetJson(target), ...sizeOf(files), elapsed_ms: inTenths(elapsedMs) };
    if (this.#committed === undefined) return { sink, commit: null };
    const { change } = this.#committed;
    return {
      sink,
      commit: { operation: change.operation, mode: modeOf(change), ...this.#commitFacts(this.#committed) },
    };
  }

  #commitFacts({ change, made, elapsedMs }: CommittedChange): Readonly<Record<string, string | number>> {
    const { removed, deletes } = change.counts;
    return {
      snapshot: made.snapshotId.toString(),
      sequence_number: Number(made.sequenceNumber),
      attempts: made.attempts,
      rounds: this.#rounds,
      removed_files: removed?.files ?? 0,
      removed_delete_files: removed?.deleteFiles ?? 0,
      added_delete_files: deletes?.files ?? 0,
      added_positions: deletes?.positions ?? 0,
      elapsed_ms: inTenths(elapsedMs),
    };
  }
}

const sizeOf = (files: readonly NewDataFile[]): { files: number; rows: number; bytes: number } => ({
  files: files.length,
  rows: rowsOf(files),
  bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
});

const facts = (values: Readonly<Record<string, string | number>>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');

/** How old rows went. */
function modeOf({ operation, counts }: SnapshotChange): string {
  if (operation === 'append') return 'append';
  const isMarked = (counts.deletes?.positions ?? 0) > 0;
  if ((counts.removed?.files ?? 0) === 0) return isMarked ? 'merge-on-read' : 'append';
  if (operation === 'replace') return 'rewrite';
  const way = counts.files === 0 ? 'metadata delete' : 'copy-on-write';
  return isMarked ? `merge-on-read and ${way}` : way;
}
