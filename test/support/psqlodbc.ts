import { pythonIn } from './python.ts';

/** Runs a Python program that speaks to the Postgres wire by psqlODBC, whose driver the system has registered under this name. */
export const byPsqlOdbc = (program: string, ...args: readonly string[]): Promise<string> =>
  pythonIn('postgres', program, 'PostgreSQL Unicode', ...args);
