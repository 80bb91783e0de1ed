import type { IcebergType } from './type.ts';

/** Whether the types are equal, or the specification allows the promotion ("Schema Evolution"). */
export function canPromote(from: IcebergType, to: IcebergType): boolean {
  if (from.kind === 'decimal' && to.kind === 'decimal')
    return from.scale === to.scale && from.precision <= to.precision;
  if (from.kind === 'struct' && to.kind === 'struct') {
    return (
      from.fields.length === to.fields.length &&
      to.fields.every((field) => {
        const source = from.fields.find(({ name }) => name === field.name);
        return source !== undefined && canPromote(source.type, field.type);
      })
    );
  }
  if (from.kind === 'list' && to.kind === 'list') return canPromote(from.element.type, to.element.type);
  if (from.kind === 'map' && to.kind === 'map') {
    return canPromote(from.key.type, to.key.type) && canPromote(from.value.type, to.value.type);
  }
  if (from.kind === 'int' && to.kind === 'long') return true;
  if (from.kind === 'float' && to.kind === 'double') return true;
  return from.kind === to.kind && from.kind !== 'struct' && from.kind !== 'list' && from.kind !== 'map';
}
