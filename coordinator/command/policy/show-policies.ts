import { madeValue } from '#shared/made-type.ts';
import type { PolicyKind, PolicyRequest } from '#shared/policy/policy-request.ts';
import { PAGE_ROWS_MAX, type PrincipalAnswer } from '#shared/principal/principal-request.ts';
import { madeColumn, type MadeColumn, type MadeRow } from '../../binding/made-columns.ts';
import type { Pages } from '../../catalog-client/pages.ts';
import { paged } from '../../operation/answer.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { rowsCommand } from '../rows-command.ts';
import { policyPlace } from './policy-place.ts';
import { policyWords, takePolicyKind } from './policy-words.ts';

type Ask = (request: PolicyRequest) => Promise<PrincipalAnswer>;

const asking =
  ({ catalog, caller }: CommandContext): Ask =>
  (request) =>
    catalog.runPolicyStatement(caller.claims, request);

/** `SHOW ROW POLICIES`, `SHOW MASKING POLICIES` */
export const showPolicies = rowsCommand<{ readonly policyKind: PolicyKind }>({
  words: ['SHOW ROW POLICIES', 'SHOW MASKING POLICIES'],
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const policyKind = reader.word() === 'ROW' ? 'row_access' : 'masking';
    reader.words(1);
    reader.end();
    return { policyKind };
  },
  action: () => null,
  async rows({ policyKind }, context) {
    const ask = asking(context);
    const page = { kind: 'show_policies', policyKind, after: null, limit: PAGE_ROWS_MAX } as const;
    const first = await ask(page);
    const columns = columnsOf(first);
    return { columns, pages: pagesFrom(first, columns, (after) => ask({ ...page, after })) };
  },
});

/** `DESCRIBE ROW ACCESS | MASKING POLICY name`: the same, and the body */
export const describePolicy = rowsCommand<{ readonly policyKind: PolicyKind; readonly name: ObjectName }>({
  words: policyWords('DESCRIBE', 'DESC'),
  queryType: 'show',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const policyKind = takePolicyKind(reader);
    const name = reader.name('a policy', 3);
    reader.end();
    return { policyKind, name };
  },
  action: () => null,
  async rows({ policyKind, name }, context) {
    const policy = await policyPlace(name, context);
    const asked = asking(context)({ kind: 'describe_policy', policy, policyKind });
    const answer = await withNamePosition(name, asked);
    const columns = columnsOf(answer);
    return paged({ columns, rows: typedRows(answer, columns) });
  },
});

async function* pagesFrom(
  first: PrincipalAnswer,
  columns: readonly MadeColumn[],
  next: (after: string) => Promise<PrincipalAnswer>,
): Pages<MadeRow> {
  for (let page = first; ; page = await next(page.next)) {
    yield typedRows(page, columns);
    if (page.next === null) return;
  }
}

const columnsOf = ({ columns, types }: PrincipalAnswer): readonly MadeColumn[] =>
  columns.map((name, i) => madeColumn(name, types?.[i] ?? 'VARCHAR'));

const typedRows = ({ rows }: PrincipalAnswer, columns: readonly MadeColumn[]): readonly MadeRow[] =>
  rows.map((row) =>
    columns.map(({ typeName }, i) => {
      const text = row[i] ?? null;
      return text === null ? null : madeValue(typeName, text);
    }),
  );
