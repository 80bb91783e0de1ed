import type { PolicyKind } from '#shared/policy/policy-request.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { policyPlace } from './policy-place.ts';
import { policyWords, takePolicyKind } from './policy-words.ts';

type DropPolicy = { readonly policyKind: PolicyKind; readonly ifExists: boolean; readonly name: ObjectName };

/** `DROP ROW ACCESS | MASKING POLICY [IF EXISTS] name` */
export const dropPolicy: Command<DropPolicy> = {
  words: policyWords('DROP'),
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const policyKind = takePolicyKind(reader);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a policy', 3);
    reader.end();
    return { policyKind, ifExists, name };
  },
  action: () => null,
  async run({ policyKind, ifExists, name }, context) {
    const { catalog, caller } = context;
    const policy = await policyPlace(name, context);
    context.beginCommit();
    const done = catalog.runPolicyStatement(caller.claims, { kind: 'drop_policy', policy, policyKind, ifExists });
    const { rows } = await withNamePosition(name, done);
    return context.answer(statusResult(rows[0]?.[0] ?? ''));
  },
};
