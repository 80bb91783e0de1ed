import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { projectRoot } from './cluster.ts';
import { mavenFile } from './java.ts';
import { pythonBin } from './python.ts';

const RUNTIME = 'org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.11.0';
/** The way to buckets. */
const AWS = 'org.apache.iceberg:iceberg-aws-bundle:1.11.0';

/** A Spark session whose catalog `lake` is ours. */
export type Spark = AsyncDisposable & {
  /** The rows of a statement; numbers as JSON has them, all else as Python prints it. @throws Error with Spark's message */
  sql(statement: string): Promise<readonly (readonly Json[])[]>;
};

/** A catalog whose tables lie in a bucket, and how Spark is let at them. */
type InBucket = { readonly warehouse: string; readonly delegation: string };

/** PySpark from PyPI with Iceberg's runtime from Maven Central, in a process of its own. */
export async function startSpark(catalogUrl: string, token: string, inBucket?: InBucket): Promise<Spark> {
  const bin = await pythonBin('spark');
  const jars = [await mavenFile(RUNTIME), ...(inBucket === undefined ? [] : [await mavenFile(AWS)])];
  const more = inBucket === undefined ? [] : [inBucket.warehouse, inBucket.delegation];
  const folder = await mkdtemp(join(tmpdir(), 'skein-spark-'));
  const script = join(projectRoot, 'test/conformance/spark_catalog.py');
  const child = spawn(join(bin, 'python'), [script, catalogUrl, token, jars.join(','), folder, ...more], {
    cwd: folder,
    env: { ...process.env, PYSPARK_PYTHON: join(bin, 'python'), SPARK_LOCAL_IP: '127.0.0.1' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let log = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-20_000)));
  const ended = once(child, 'close');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const answer = async (): Promise<readonly (readonly Json[])[]> => {
    const line = await lines.next();
    if (line.done === true) throw new Error(`Spark ended\n${log}`);
    const { rows, error } = parseJson(line.value) as { rows?: readonly (readonly Json[])[]; error?: string };
    if (rows === undefined) throw new Error(error);
    return rows;
  };
  await answer();
  return {
    sql(statement) {
      child.stdin.write(`${printJson({ sql: statement })}\n`);
      return answer();
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}
