import type { PolicyRequestOf } from '#shared/policy/policy-request.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { qualify } from '../../operation/qualify.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { requireSchema } from '../require-schema.ts';

type PolicyName = PolicyRequestOf<'find_policy'>['policy'];

/** A policy's name with every level spelled out, catalog and schema as they are stored. @throws CATALOG_NOT_FOUND, SCHEMA_NOT_FOUND */
export async function policyPlace(name: ObjectName, context: CommandContext): Promise<PolicyName> {
  const find = async (): Promise<PolicyName> => {
    const wanted = await qualify(name, context);
    const catalog = await context.names.catalog(context.caller, wanted.catalog);
    const namespace = await requireSchema(context, catalog, schemaName(wanted.namespace));
    return { catalog, namespace: [...namespace], name: wanted.table };
  };
  return withNamePosition(name, find());
}
