import { Value } from 'typebox/value';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import { PolicyRequest, type PolicyRequestOf } from '#shared/policy/policy-request.ts';
import type { Call } from '../principal-statement/change.ts';
import {
  bindRowPolicy,
  setMaskingPolicy,
  unbindRowPolicies,
  unbindRowPolicy,
  unsetMaskingPolicy,
} from './bind-policy.ts';
import { createPolicy, dropPolicy, setBody } from './create-policy.ts';
import { describePolicy, findPolicyCall, showPolicies } from './show-policies.ts';

const RUNS = {
  create_policy: createPolicy,
  set_body: setBody,
  drop_policy: dropPolicy,
  find_policy: findPolicyCall,
  bind_row_policy: bindRowPolicy,
  unbind_row_policy: unbindRowPolicy,
  unbind_row_policies: unbindRowPolicies,
  set_masking_policy: setMaskingPolicy,
  unset_masking_policy: unsetMaskingPolicy,
  show_policies: showPolicies,
  describe_policy: describePolicy,
} as const satisfies {
  readonly [K in PolicyRequest['kind']]: (call: Call, request: PolicyRequestOf<K>) => Promise<PrincipalAnswer>;
};

/** Runs a statement about policies. @throws the errors of the statement; then nothing was changed */
export function runPolicyStatement(call: Call, statement: Buffer): Promise<PrincipalAnswer> {
  const request = readRequest(statement);
  const run: (call: Call, request: never) => Promise<PrincipalAnswer> = RUNS[request.kind];
  return run(call, request as never);
}

/** @throws INVALID_REQUEST, whose message repeats nothing of the request */
function readRequest(bytes: Buffer): PolicyRequest {
  let hasNul = false;
  const request: unknown = JSON.parse(bytes.toString(), (_key, value: unknown) => {
    hasNul ||= typeof value === 'string' && value.includes('\0');
    return value;
  });
  if (!hasNul && Value.Check(PolicyRequest, request)) return request;
  throw new SkeinError(
    'INVALID_REQUEST',
    hasNul ? 'a name or text holds a NUL character' : 'not a statement about policies',
  );
}
