import { open, readFile } from 'node:fs/promises';

const CHUNK_BYTES = 16 * 2 ** 20;

/** Whether the memory that a process can write holds a text, or its environment or command line do. */
export async function processHolds(pid: number, text: string): Promise<boolean> {
  const wanted = Buffer.from(text);
  for (const name of ['environ', 'cmdline']) {
    if ((await readFile(`/proc/${pid}/${name}`)).includes(wanted)) return true;
  }
  const maps = await readFile(`/proc/${pid}/maps`, 'utf8');
  await using memory = await open(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK_BYTES + wanted.length);
  for (const line of maps.split('\n')) {
    const [, first, end] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
    if (first === undefined || end === undefined) continue;
    for (let at = BigInt(`0x${first}`); at < BigInt(`0x${end}`); at += BigInt(CHUNK_BYTES)) {
      const length = Math.min(buffer.length, Number(BigInt(`0x${end}`) - at));
      // Pages that were never touched, and those that went meanwhile.
      const read = await memory.read(buffer, 0, length, at).catch(() => ({ bytesRead: 0 }));
      if (buffer.subarray(0, read.bytesRead).includes(wanted)) return true;
    }
  }
  return false;
}
