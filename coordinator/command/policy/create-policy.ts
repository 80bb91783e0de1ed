import { argumentName } from '#shared/policy/argument-name.ts';
import type { PolicyKind } from '#shared/policy/policy-request.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName, TextSpan } from '../../statement/statement.ts';
import { takeIfNotExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import { takeBody, takeSignature, type PolicyArgument } from './policy-clauses.ts';
import { policyPlace } from './policy-place.ts';
import { policyWords, takePolicyKind } from './policy-words.ts';

type CreatePolicy = {
  readonly policyKind: PolicyKind;
  readonly orReplace: boolean;
  readonly ifNotExists: boolean;
  readonly name: ObjectName;
  readonly arguments: readonly PolicyArgument[];
  readonly returns: string;
  readonly body: TextSpan;
};

/** `CREATE [OR REPLACE] ROW ACCESS | MASKING POLICY [IF NOT EXISTS] name AS (argument TYPE, ...) RETURNS TYPE -> expression` */
export const createPolicy: Command<CreatePolicy> = {
  words: policyWords('CREATE', 'CREATE OR REPLACE'),
  queryType: 'ddl',
  timeout: 'session',
  parse(reader) {
    reader.words(1);
    const orReplace = reader.takeWords('OR', 'REPLACE');
    const policyKind = takePolicyKind(reader);
    const ifNotExists = takeIfNotExists(reader);
    if (ifNotExists && orReplace) throw reader.error('SYNTAX_ERROR', 'OR REPLACE and IF NOT EXISTS exclude each other');
    const name = reader.name('a policy', 3);
    checkIdentifier(name.parts.at(-1) ?? '', name.position);
    const signature = takeSignature(reader, policyKind);
    return { policyKind, orReplace, ifNotExists, name, ...signature, body: takeBody(reader) };
  },
  action: () => null,
  async run({ policyKind, orReplace, ifNotExists, name, ...input }, context) {
    const { catalog, caller, queries } = context;
    const policy = await policyPlace(name, context);
    const { returns } = input;
    const proven = await queries.prove((take) => take('expression', input.body));
    const { body, mappings } = await queries.policyBody(proven, { arguments: input.arguments, returns });
    context.beginCommit();
    const done = catalog.runPolicyStatement(caller.claims, {
      kind: 'create_policy',
      policy,
      policyKind,
      orReplace,
      ifNotExists,
      arguments: input.arguments.map(({ name: shown, type }, i) => ({ name: argumentName(i), shown, type })),
      returns,
      body,
      mappings: [...mappings],
    });
    const { rows } = await withNamePosition(name, done);
    return context.answer(statusResult(rows[0]?.[0] ?? ''));
  },
};
