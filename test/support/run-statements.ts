import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import type { TestCatalog } from './catalog.ts';

/** Runs statements about principals on a catalog, each by a new token of a user. */
export type StatementRunner = {
  readonly run: (user: string, request: PrincipalRequest) => Promise<PrincipalAnswer>;
  /** `done`, or the code of the refusal. */
  readonly refusal: (user: string, request: PrincipalRequest) => Promise<string>;
  /** The rows, each by its columns. */
  readonly table: (
    user: string,
    request: PrincipalRequest,
  ) => Promise<readonly Readonly<Record<string, string | null>>[]>;
  /** Creates a user with a password, as the administrator. */
  readonly createUser: (name: string, more?: object) => Promise<PrincipalAnswer>;
};

export const PASSWORD = 'Correct-Horse-9';

export function statementRunner(catalog: Pick<TestCatalog, 'mint' | 'call' | 'principal'>): StatementRunner {
  const run = async (user: string, request: PrincipalRequest): Promise<PrincipalAnswer> => {
    const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
      principal: catalog.principal(await catalog.mint({ user })),
      statement: Buffer.from(JSON.stringify(request)),
    });
    return JSON.parse(answer.toString()) as PrincipalAnswer;
  };
  return {
    run,
    refusal: (user, request) =>
      run(user, request).then(
        () => 'done',
        (error: unknown) => (error as { readonly code: string }).code,
      ),
    async table(user, request) {
      const { columns, rows } = await run(user, request);
      return rows.map((row) => Object.fromEntries(columns.map((column, i) => [column, row[i] ?? null])));
    },
    createUser: (name, more = {}) =>
      run('admin', {
        kind: 'create_user',
        name,
        ifNotExists: false,
        email: `${name}@example.org`,
        password: PASSWORD,
        ...more,
      }),
  };
}
