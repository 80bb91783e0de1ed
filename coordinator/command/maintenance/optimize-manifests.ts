import type { Procedure } from './procedure.ts';

/** `optimize_manifests`: writes the entries of small manifests into larger ones. */
export const optimizeManifestsProcedure: Procedure = {
  parameters: [],
  async run(table, _values, { context, dryRun }) {
    const { rewritten, added } = await context.writes.optimizeManifests(table, dryRun);
    return [
      ['rewritten_manifests_count', rewritten],
      ['added_manifests_count', added],
    ];
  },
};
