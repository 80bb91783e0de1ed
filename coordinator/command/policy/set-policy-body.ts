import type { PolicyKind } from '#shared/policy/policy-request.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName, TextSpan } from '../../statement/statement.ts';
import type { Command } from '../command.ts';
import { foundPolicy } from './found-policy.ts';
import { takeBody } from './policy-clauses.ts';
import { policyPlace } from './policy-place.ts';
import { policyWords, takePolicyKind } from './policy-words.ts';

type SetPolicyBody = { readonly policyKind: PolicyKind; readonly name: ObjectName; readonly body: TextSpan };

/** `ALTER ROW ACCESS | MASKING POLICY name SET BODY -> expression` */
export const setPolicyBody: Command<SetPolicyBody> = {
  words: policyWords('ALTER'),
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const policyKind = takePolicyKind(reader);
    const name = reader.name('a policy', 3);
    if (!reader.takeWords('SET', 'BODY')) throw reader.expected('SET BODY');
    return { policyKind, name, body: takeBody(reader) };
  },
  action: () => null,
  async run({ policyKind, name, body: text }, context) {
    const { catalog, caller, queries } = context;
    const policy = await policyPlace(name, context);
    const found = await withNamePosition(name, foundPolicy(policy, policyKind, context));
    const proven = await queries.prove((take) => take('expression', text));
    const named = found.arguments.map(({ shown, type }) => ({ name: shown, type }));
    const { body, mappings } = await queries.policyBody(proven, { arguments: named, returns: found.returns });
    context.beginCommit();
    const { version } = found;
    const done = catalog.runPolicyStatement(caller.claims, {
      kind: 'set_body',
      policy,
      policyKind,
      version,
      body,
      mappings: [...mappings],
    });
    const { rows } = await withNamePosition(name, done);
    return context.answer(statusResult(rows[0]?.[0] ?? ''));
  },
};
