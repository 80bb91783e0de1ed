import { POLICY_KINDS, type PolicyKind } from '#shared/policy/policy-request.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';

/** The words of the kinds of policies, in statements. */
const WORDS: Readonly<Record<PolicyKind, string>> = {
  row_access: 'ROW ACCESS POLICY',
  masking: 'MASKING POLICY',
};

/** How statements about policies begin: each of these words before those of each kind. */
export const policyWords = (...starts: readonly string[]): readonly string[] =>
  starts.flatMap((start) => POLICY_KINDS.map((kind) => `${start} ${WORDS[kind]}`));

/** Takes the words of a kind of policy. @throws SYNTAX_ERROR */
export function takePolicyKind(reader: StatementReader): PolicyKind {
  const kind = POLICY_KINDS.find((one) => reader.takeWords(...WORDS[one].split(' ')));
  if (kind === undefined) throw reader.expected('ROW ACCESS POLICY or MASKING POLICY');
  return kind;
}
