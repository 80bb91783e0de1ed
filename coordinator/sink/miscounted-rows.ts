import { SkeinError } from '#shared/error.ts';

/** The end of a statement of which rows were lost or doubled on their way: never an answer, always a fault of the engine. */
export class MiscountedRows extends SkeinError {
  /** `given`: rows that the tasks, or the command, say that they gave. */
  constructor({ given, arrived }: { readonly given: number; readonly arrived: number }) {
    super('INTERNAL_ERROR', `rows were lost or doubled on their way: ${given} were given, ${arrived} arrived`);
    this.name = 'MiscountedRows';
  }
}
