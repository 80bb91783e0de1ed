import { availableParallelism, cpus, totalmem } from 'node:os';
import { version as duckdbVersion } from '@duckdb/node-api';

/** The hardware and software with which a figure was measured; part of every result file. */
export type Machine = {
  readonly cores: number;
  readonly cpu: string;
  readonly memoryBytes: number;
  readonly node: string;
  readonly duckdb: string;
  readonly measuredAt: string;
};

export const thisMachine = (): Machine => ({
  cores: availableParallelism(),
  cpu: cpus()[0]?.model ?? 'unknown',
  memoryBytes: totalmem(),
  node: process.version,
  duckdb: duckdbVersion(),
  measuredAt: new Date().toISOString(),
});
