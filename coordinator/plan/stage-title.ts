/** The number of the first stage that applies policies: below those of queries, and those that bring rows. */
export const POLICY_STAGES = -1_000_000;

/** How people are told of a stage. */
export const stageTitle = (stage: number): string =>
  stage <= POLICY_STAGES ? `of policies ${POLICY_STAGES - stage + 1}` : String(stage);
