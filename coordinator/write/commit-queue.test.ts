import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { CommitQueue, type QueuedCommit } from './commit-queue.ts';

/** A table of which the commits are noted: the names of the members of each. */
class Table {
  readonly queue = new CommitQueue<Commit>();
  readonly commits: (readonly string[])[] = [];
  readonly stale: boolean[] = [];
  sequenceNumber = 0n;
  /** Called with the names of a commit's members; what it throws is the commit's failure. */
  refuse: (names: readonly string[]) => void = () => undefined;

  run(name: string, options: Partial<Commit> = {}): Promise<void> {
    const { sequenceNumber } = this;
    return this.queue.run('t', new Commit(this, name, { sequenceNumber, ...options }));
  }
}

class Commit implements QueuedCommit<Commit> {
  readonly shareKey: string | null = 'appends';
  readonly files: number = 1;
  readonly sequenceNumber: bigint = 0n;
  readonly signal: AbortSignal = new AbortController().signal;
  readonly name: string;
  readonly #table: Table;

  constructor(table: Table, name: string, options: Partial<Commit>) {
    this.#table = table;
    this.name = name;
    Object.assign(this, options);
  }

  begin(): void {
    this.signal.throwIfAborted();
  }

  async commit(group: readonly Commit[], isStale: boolean): Promise<bigint> {
    const names = group.map(({ name }) => name);
    await sleep(5);
    this.#table.refuse(names);
    this.#table.commits.push(names);
    this.#table.stale.push(isStale);
    return ++this.#table.sequenceNumber;
  }
}

const results = async (runs: readonly Promise<void>[]): Promise<readonly unknown[]> =>
  (await Promise.allSettled(runs)).map((one) => (one.status === 'rejected' ? (one.reason as Error).message : 'ok'));

describe('commits to one table', () => {
  test('those that wait together become one, in a table that was loaded again', async () => {
    const table = new Table();
    expect(await results(['a', 'b', 'c', 'd'].map((name) => table.run(name)))).toEqual(['ok', 'ok', 'ok', 'ok']);
    expect(table.commits).toEqual([['a'], ['b', 'c', 'd']]);
    expect(table.stale).toEqual([false, true]);
    await table.run('e');
    expect(table.stale).toEqual([false, true, false]);
  });

  test('one that is no small append stays alone, and has its turn', async () => {
    const table = new Table();
    const runs = [table.run('a'), table.run('b'), table.run('optimize', { shareKey: null }), table.run('c')];
    await results([...runs, table.run('other', { shareKey: 'of another principal' }), table.run('d')]);
    expect(table.commits).toEqual([['a'], ['b', 'c', 'd'], ['optimize'], ['other']]);
  });

  test('a group has a limited number of files', async () => {
    const table = new Table();
    await results(['a', 'b', 'c', 'd'].map((name) => table.run(name, { files: 400 })));
    expect(table.commits).toEqual([['a'], ['b', 'c'], ['d']]);
  });

  test('one that is stopped while it waits leaves the others', async () => {
    const table = new Table();
    const stop = new AbortController();
    const runs = [table.run('a'), table.run('b', { signal: stop.signal }), table.run('c')];
    const stopped = table.run('d', { signal: AbortSignal.abort(new Error('came too late')) });
    stop.abort(new Error('cancelled'));
    expect(await results([...runs, stopped])).toEqual(['ok', 'cancelled', 'ok', 'came too late']);
    expect(table.commits).toEqual([['a'], ['c']]);
  });

  test('what one of them is refused for does not fail its neighbours', async () => {
    const table = new Table();
    table.refuse = (names) => {
      if (names.includes('bad')) throw new SkeinError('INVALID_REQUEST', 'bad');
    };
    const runs = ['a', 'b', 'bad', 'c'].map((name) => table.run(name));
    expect(await results(runs)).toEqual(['ok', 'ok', 'bad', 'ok']);
    expect(table.commits).toEqual([['a'], ['b'], ['c']]);
  });

  test.each(['COMMIT_CONFLICT', 'COMMIT_STATE_UNKNOWN', 'CATALOG_UNAVAILABLE'] as const)(
    '%s is the outcome of all of a group, and the table goes on',
    async (code) => {
      const table = new Table();
      let asked = 0;
      table.refuse = (names) => {
        asked += 1;
        if (names.length > 1) throw new SkeinError(code, code);
      };
      const runs = ['a', 'b', 'c'].map((name) => table.run(name));
      expect(await results(runs)).toEqual(['ok', code, code]);
      expect(asked).toBe(2);
      await table.run('d');
      expect(table.commits).toEqual([['a'], ['d']]);
    },
  );

  test('commits to other tables do not wait', async () => {
    const table = new Table();
    const slow = Promise.withResolvers<undefined>();
    const held = table.queue.run('held', new Commit(new Table(), 'x', { commit: () => slow.promise.then(() => 1n) }));
    await table.run('a');
    expect(table.commits).toEqual([['a']]);
    slow.resolve(undefined);
    await held;
  });
});
