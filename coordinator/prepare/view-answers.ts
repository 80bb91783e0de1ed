import type { CompareReply, TranslateRequest } from '../binding/planner.ts';
import type { Memory } from './memory.ts';
import type { StatementMemory } from './statement-memory.ts';

/** Answers of planners about the queries of other engines' views. Each entry belongs to one user. */
export class ViewAnswers {
  readonly #memory: Pick<StatementMemory, 'translation' | 'comparison'>;

  constructor(memory: Pick<StatementMemory, 'translation' | 'comparison'>) {
    this.#memory = memory;
  }

  translated(owner: string, { dialect, sql }: TranslateRequest, work: () => Promise<string>): Promise<string> {
    return kept(this.#memory.translation, { owner, key: JSON.stringify([owner, dialect, sql]) }, work);
  }

  /** @param key the query with its tables as they are */
  compared(owner: string, key: string, work: () => Promise<CompareReply>): Promise<CompareReply> {
    return kept(this.#memory.comparison, { owner, key }, work);
  }
}

async function kept<T>(
  memory: Memory<T>,
  { owner, key }: { readonly owner: string; readonly key: string },
  work: () => Promise<T>,
): Promise<T> {
  const known = memory.get(key);
  if (known !== undefined) return known;
  const made = await work();
  memory.set(owner, key, made);
  return made;
}
