import { readFileSync } from 'node:fs';
import { cpus, hostname } from 'node:os';

/** Differs between machines and is the same for all processes of one, containers included: the kernel's boot id, or the host's name. */
const BOOT_ID = '/proc/sys/kernel/random/boot_id';

/** The machine that this process runs on, and its cores, which other workers may share. */
export function thisMachine(): { readonly id: string; readonly cores: number } {
  const cores = Math.max(1, cpus().length);
  try {
    return { id: readFileSync(BOOT_ID, 'utf8').trim(), cores };
  } catch {
    return { id: hostname(), cores };
  }
}
