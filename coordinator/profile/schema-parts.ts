import { Type, type TProperties, type TSchema } from 'typebox';

/** The parts that schemas of bodies are made of. */
export const record = <Properties extends TProperties>(properties: Properties, options: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options });
export const text = (description: string) => Type.String({ description });
export const integer = (description: string) => Type.Integer({ description });
export const orNull = <Schema extends TSchema>(schema: Schema, description: string) =>
  Type.Union([schema, Type.Null()], { description });

export const UUID = Type.String({ format: 'uuid' });
export const TIME = Type.String({ format: 'date-time' });
