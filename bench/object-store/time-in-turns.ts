import { TPCH_QUERIES } from '#test/tpch/tpch-queries.ts';
import { median } from '../report/statistics.ts';

/** Runs a statement, and gives its time in ms. */
export type Timed = (sql: string) => Promise<number>;
type WarmFigures = { readonly name: string; readonly localMs: number; readonly cloudMs: number };

/** The medians of each TPC-H query over local files and over a store, in turns. */
export async function timeInTurns(
  { local, cloud }: { readonly local: Timed; readonly cloud: Timed },
  runs: number,
): Promise<readonly WarmFigures[]> {
  const figures: WarmFigures[] = [];
  for (const { name, sql } of TPCH_QUERIES) {
    const [localMs, cloudMs]: [number[], number[]] = [[], []];
    for (let i = 0; i < runs; i++) {
      localMs.push(await local(sql));
      cloudMs.push(await cloud(sql));
    }
    figures.push({ name, localMs: median(localMs), cloudMs: median(cloudMs) });
  }
  return figures;
}
