import { hash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { lstat, readdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * A coordinator's folder in the temporary directory, with the socket to which its planners connect. Only this account may enter it. The
 * coordinator removes it when it ends, the process that starts its planners when the coordinator was killed, and when both were, the next
 * coordinator on this machine.
 */
export class PlannerFolder {
  readonly path: string;
  /** Working directory of all planners; it stays empty. */
  readonly workingFolder: string;

  constructor(parent = tmpdir()) {
    this.path = mkdtempSync(join(parent, PREFIX));
    this.workingFolder = mkdtempSync(join(this.path, 'empty-'));
  }

  get socketPath(): string {
    return join(this.path, SOCKET);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** Several machines may share a temporary directory, and a socket tells only about processes of its own machine. */
const PREFIX = `skein-planner-${hash('sha256', hostname()).slice(0, 8)}-`;
const SOCKET = 'socket';
/** A coordinator that starts has a folder for a moment before it listens. */
const STARTING_MS = 60_000;
/** Most folders that one start looks at. */
const FOLDERS_MAX = 1_000;

/**
 * Removes the folders of this account on this machine whose coordinator does not live: nobody listens on their socket. A socket cannot be
 * mistaken for that of another process, as a pid can.
 * @returns how many were removed
 */
export async function removeAbandonedFolders(parent = tmpdir()): Promise<number> {
  const names = (await readdir(parent)).filter((name) => name.startsWith(PREFIX)).slice(0, FOLDERS_MAX);
  let removed = 0;
  for (const name of names) {
    const folder = join(parent, name);
    // Another start may remove it at the same time.
    if (!(await isAbandoned(folder).catch(() => false))) continue;
    await rm(folder, { recursive: true, force: true });
    removed += 1;
  }
  return removed;
}

async function isAbandoned(folder: string): Promise<boolean> {
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return false;
  const answer = await ask(join(folder, SOCKET));
  return answer === 'ECONNREFUSED' || (answer === 'ENOENT' && Date.now() - found.mtimeMs > STARTING_MS);
}

/** Connects to a socket for a moment. @returns the code of the error; undefined when somebody listens */
function ask(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(undefined);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
  });
}
