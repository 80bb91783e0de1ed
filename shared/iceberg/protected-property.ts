/** A table or namespace with this property set to `true` cannot be dropped, unregistered or overwritten until the property goes. */
export const PROTECTED_PROPERTY = 'skein.protected';
