/** The catalog of a tenant for whoever names none: the one that the first start makes, if the tenant has it, else its first by name. */
export const defaultCatalog = (names: readonly string[], preferred: string): string | undefined =>
  names.includes(preferred) ? preferred : names[0];
