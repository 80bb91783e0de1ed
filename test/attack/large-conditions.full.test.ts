import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { StartedCluster } from '#test/support/cluster.ts';
import { turnsIn, type Turns } from '#test/support/main-thread-turns.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { LARGE_WRITES } from './corpus/large-statements.ts';
import { Bystander } from './bystander.ts';

/**
 * A planner checks the parts of a statement that changes rows before they are put into other texts (`planner/check-parts.ts`). Whoever sends
 * a long condition waits for that, and nobody else does.
 */

/** One that is served, one of the size at which threads take over, and the largest that is taken. */
const BYTES = [4_000, 200_000, 8_000_000];
const CLIENTS = 2;
/** The longest turn of the coordinator's main thread, in CPU time, and the longest wait of another client on a machine of two cores. */
const TURN_SECONDS_MAX = 0.25;
const WAIT_MS_MAX = 3_000;

let cluster: StartedCluster;

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 1, args: ['--worker-cores', '1'] });
  await cluster.load(['tpch', '--scale', '0.01']);
  await cluster.sql('CREATE TABLE lake.tpch.parts (a BIGINT, b BIGINT)');
  await cluster.sql('INSERT INTO lake.tpch.parts VALUES (1, 11), (2, 22)');
}, 300_000);

afterAll(() => cluster?.stop());

const turns = async (): Promise<Turns> => turnsIn(await (await fetch(`${cluster.queryUrl}/metrics`)).text());

test.each(LARGE_WRITES.map(({ name, of }) => [name, of] as const))(
  'nobody waits while the parts of a large statement are checked: %s',
  async (_name, of) => {
    const bystander = new Bystander(cluster);
    const before = await turns();
    const answers = [];
    for (const bytes of BYTES) {
      answers.push(...(await Promise.all(Array.from({ length: CLIENTS }, () => cluster.query(of(bytes))))));
    }
    const seen = await bystander.stop();
    const { longerThan } = (await turns()).since(before);
    process.stdout.write(
      `${JSON.stringify(seen)} ${answers.map(({ status, body }) => body.error ?? status).join(' ')}\n`,
    );
    expect(must(answers[0], 'an answer').body.error).not.toBe('STATEMENT_TOO_COMPLEX');
    expect(seen.failures).toEqual([]);
    expect.soft(seen.slowestMs).toBeLessThan(WAIT_MS_MAX);
    expect(longerThan(TURN_SECONDS_MAX)).toBe(0);
  },
  120_000,
);
