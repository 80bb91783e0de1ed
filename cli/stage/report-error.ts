import { EXIT, type ExitCode } from '../exit-code.ts';
import { ConnectionError, QueryError } from '../sql/query-client.ts';

/** Runs a transfer; prints what the server refused, or that it cannot be reached. */
export async function reportError(work: () => Promise<ExitCode>): Promise<ExitCode> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof QueryError) && !(error instanceof ConnectionError)) throw error;
    const what = error instanceof QueryError ? `ERROR ${error.sqlState} ${error.code}: ` : 'skein: ';
    process.stderr.write(`${what}${error.message}\n`);
    return error instanceof QueryError ? EXIT.failed : EXIT.noCluster;
  }
}
