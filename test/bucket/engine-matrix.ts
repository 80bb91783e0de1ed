import { expect } from 'vitest';

/** Engines that work in a bucket with nothing but a token of the catalog, and how they are let at the files. `catalog/README.md` has it as a table. */

type Way = 'vended credentials' | 'signatures';

const ALL = 'create, write, read, delete';

/** Each cell is what a test of this folder has seen; null = the engine has no such way. */
const MATRIX = {
  'PyIceberg 0.12.0': { 'vended credentials': ALL, signatures: `${ALL} (s3fs 2025.10.0)` },
  'DuckDB 1.5.5, iceberg extension': { 'vended credentials': ALL, signatures: null },
  'Spark 4.1, Iceberg 1.11': {
    'vended credentials': `${ALL}, \`remove_orphan_files\`, \`DROP ... PURGE\``,
    signatures: `${ALL}, \`remove_orphan_files\``,
  },
  'Trino 476': { 'vended credentials': ALL, signatures: null },
  'Iceberg’s Java library 1.11 (S3FileIO)': {
    'vended credentials': 'write, read, delete, beyond a key’s end',
    signatures: 'write, read, delete',
  },
  'botocore 1.40, default checksums': { 'vended credentials': 'write, read, delete', signatures: 'write, read' },
} as const satisfies Readonly<Record<string, Readonly<Record<Way, string | null>>>>;

/** Says what an engine has done by a way: the matrix must say the same. */
export function hasDone(engine: keyof typeof MATRIX, way: Way, does: string): void {
  expect({ engine, way, does: MATRIX[engine][way] }).toEqual({ engine, way, does });
}

/** The table of the README. */
export const printMatrix = (): string =>
  [
    '| engine | vended credentials | signatures |',
    '|---|---|---|',
    ...Object.entries(MATRIX).map(
      ([engine, ways]) => `| ${engine} | ${ways['vended credentials']} | ${ways.signatures ?? 'has none'} |`,
    ),
  ].join('\n');
