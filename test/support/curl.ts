import { spawn } from 'node:child_process';
import { once } from 'node:events';

export type CurlAnswer = {
  /** The exit code. */
  readonly code: number;
  readonly bytes: number;
  /** The last bytes of the answer, as text. */
  readonly tail: string;
};

const TAIL_BYTES = 200;

/** Runs curl to its end. */
export async function curl(args: readonly string[]): Promise<CurlAnswer> {
  const child = spawn('curl', ['-s', '-S', ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  let tail = Buffer.alloc(0);
  let bytes = 0;
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES);
  });
  const [code] = (await once(child, 'close')) as [number];
  return { code, bytes, tail: tail.toString() };
}
