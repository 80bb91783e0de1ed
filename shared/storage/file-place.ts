import { existsSync, realpathSync } from 'node:fs';
import { mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises';
import { constants } from 'node:fs';
import { basename, dirname } from 'node:path';
import { SkeinError } from '#shared/error.ts';
import { localPath } from './location.ts';
import { makeFolders } from './make-folders.ts';
import { FileNotFound } from './storage.ts';

/**
 * Local paths as places below a root. A tenant writes files below its folders, and may put a symbolic link there, or exchange a folder for
 * one while it is looked at. So a path is never trusted because of its text: what was opened is asked where it lies, and everything else is
 * done through the descriptor of a folder that has answered. The root itself, and what is above it, is the operator's and may be a link.
 */
export type FilePlace = { readonly root: RealRoot; readonly path: string };

/** Linux shows where a descriptor leads, and lets one go on from it. */
const DESCRIPTORS = '/proc/self/fd';
const HAS_DESCRIPTORS = existsSync(DESCRIPTORS);
/** Follows the path of a file that was deleted after it had been opened. */
const DELETED = ' (deleted)';
/** How often a folder is made again that others remove. */
export const MAKES_MAX = 100;

/** A root, and where it lies without links. That is asked again when something does not lie below it: an operator may move it. */
export class RealRoot {
  readonly path: string;
  #real: string | undefined;

  constructor(location: string) {
    this.path = localPath(location);
  }

  /** Whether `real` is where `path` has to lie. @throws the errors of `realpath` for the root */
  async isAt(path: string, real: string): Promise<boolean> {
    const below = path.slice(this.path.length);
    if (this.#real !== undefined && real === joined(this.#real, below)) return true;
    this.#real = await realpath(this.path);
    return real === joined(this.#real, below);
  }

  isAtSync(path: string, real: string): boolean {
    const below = path.slice(this.path.length);
    if (this.#real !== undefined && real === joined(this.#real, below)) return true;
    this.#real = realpathSync.native(this.path);
    return real === joined(this.#real, below);
  }

  holds(path: string): boolean {
    return path === this.path || path.startsWith(this.path === '/' ? '/' : `${this.path}/`);
  }
}

/** The part below a root begins with a slash, except below `/`. */
const joined = (real: string, below: string): string =>
  below === ''
    ? real
    : real === '/'
      ? `/${below.replace(/^\//, '')}`
      : `${real}${below.startsWith('/') ? '' : '/'}${below}`;

/** @throws FORBIDDEN */
export function refuseLink(path: string): never {
  const message = `${path} leads through a symbolic link: below the folder of a catalog none is followed`;
  throw new SkeinError('FORBIDDEN', message);
}

/** Checks that what was opened is what has the path, and not what a link led to. @throws FORBIDDEN, FileNotFound */
export async function requireReal(file: FileHandle, { root, path }: FilePlace): Promise<void> {
  const real = await realPathOf(file, path);
  if (await root.isAt(path, real)) return;
  if (real.endsWith(DELETED) && (await root.isAt(path, real.slice(0, -DELETED.length)))) throw new FileNotFound(path);
  refuseLink(path);
}

/**
 * Checks the path that another program is given to open: no part of it that exists is a link. That program opens it later: whoever exchanges
 * a folder for a link at that moment is not noticed here. @throws FORBIDDEN
 */
export function requireRealSync({ root, path }: FilePlace): void {
  for (let at = path; root.holds(at); at = dirname(at)) {
    const real = realPathSync(at);
    if (real === undefined && at !== root.path) continue;
    if (real !== undefined && !root.isAtSync(at, real)) refuseLink(path);
    return;
  }
}

function realPathSync(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    if (code === 'ELOOP') refuseLink(path);
    throw error;
  }
}

async function realPathOf(file: FileHandle, path: string): Promise<string> {
  if (HAS_DESCRIPTORS) return readlink(`${DESCRIPTORS}/${file.fd}`);
  // Elsewhere the path is followed a second time: what was opened must be what lies there.
  const real = await realpath(path);
  const [opened, found] = [await file.stat({ bigint: true }), await stat(real, { bigint: true })];
  return opened.ino === found.ino && opened.dev === found.dev ? real : '';
}

/** An open folder. Its entries are reached through it, wherever its path leads by then. */
export class RealFolder implements AsyncDisposable {
  readonly place: FilePlace;
  readonly #handle: FileHandle;

  private constructor(handle: FileHandle, place: FilePlace) {
    this.#handle = handle;
    this.place = place;
  }

  /** @throws the errors of `open`, FORBIDDEN */
  static async open(place: FilePlace): Promise<RealFolder> {
    const handle = await open(place.path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NONBLOCK);
    try {
      await requireReal(handle, place);
      return new RealFolder(handle, place);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  /**
   * Opens a folder, and makes it and the missing ones above it; again, when another process removes one of them meanwhile because it is empty.
   * @throws as `open`, and the errors of `mkdir`
   */
  static async make(place: FilePlace, mode?: number): Promise<RealFolder> {
    for (let left = MAKES_MAX; ; left -= 1) {
      try {
        return await RealFolder.open(place);
      } catch (error) {
        if (left === 0 || !isAbsent(error)) throw error;
      }
      await makeEntry(place, mode);
    }
  }

  /** Whether it was removed since it was opened: nothing can be made in it. */
  async isRemoved(): Promise<boolean> {
    return (await this.#handle.stat()).nlink === 0;
  }

  /** The path of an entry for the file system: it goes on from the open folder. Whoever uses it must not follow the entry itself. */
  at(name: string): string {
    return `${this.path}/${name}`;
  }

  /** The path of the folder for the file system. */
  get path(): string {
    return HAS_DESCRIPTORS ? `${DESCRIPTORS}/${this.#handle.fd}` : this.place.path;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#handle.close();
  }
}

/** Makes a folder that was missing. It may be there already, or be missing still, when this returns: others make and remove folders, too. */
async function makeEntry({ root, path }: FilePlace, mode: number | undefined): Promise<void> {
  if (path === root.path) return makeFolders(path, { mode });
  await using parent = await RealFolder.make({ root, path: dirname(path) }, mode);
  await mkdir(parent.at(basename(path)), { mode }).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' && !isAbsent(error)) throw error;
  });
}

const isAbsent = (error: unknown): boolean =>
  error instanceof FileNotFound || (error as NodeJS.ErrnoException).code === 'ENOENT';

/** Does something with the path of an entry of a real folder, which must not follow the entry itself. @throws as `RealFolder.open` */
export async function atPlace<T>({ root, path }: FilePlace, work: (path: string) => Promise<T>): Promise<T> {
  // The operator decides about what is above a root.
  if (path === root.path) return work(path);
  await using folder = await RealFolder.open({ root, path: dirname(path) });
  return await work(folder.at(basename(path)));
}
