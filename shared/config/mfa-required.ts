/** Those who must have a second factor, the fewest first. */
export const MFA_REQUIRED = ['administrators', 'everyone'] as const;
export type MfaRequired = (typeof MFA_REQUIRED)[number];
