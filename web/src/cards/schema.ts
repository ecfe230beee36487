// SPDX-License-Identifier: MIT
// The JSON Schema of a card (understudy card schema), from which the forms are made.

import type { Part, Value } from "./document";

export interface Schema {
  type?: string;
  description?: string;
  properties?: { [key: string]: Schema };
  required?: string[];
  items?: Schema;
  enum?: (string | number)[];
  anyOf?: Schema[];
  default?: Value;
  $ref?: string;
  $defs?: { [name: string]: Schema };
}

const HEXADECIMAL: { [key: string]: number } = {
  vendor: 4,
  device: 4,
  subsystem_vendor: 4,
  subsystem: 4,
  class_code: 6,
  offset: 3,
  stride: 3,
  table: 3,
  pending: 3,
  reset: 1,
};

/** Return the schema that a reference names, with its own description. */
export function resolved(schema: Schema, root: Schema): Schema {
  const inner = schema.anyOf?.find(({ $ref }) => $ref) ?? schema;
  const name = inner.$ref?.split("/").pop();
  const found = name ? root.$defs?.[name] : undefined;
  return found ? { ...found, description: schema.description ?? found.description ?? "" } : schema;
}

export const isOptional = (schema: Schema) =>
  schema.anyOf?.some(({ type }) => type === "null") ?? false;

/** Return the values that a new part has: those that it needs. */
export function begun(schema: Schema, root: Schema): Part {
  const part: Part = {};
  for (const key of schema.required ?? []) {
    const own = schema.properties?.[key];
    if (own) part[key] = first(key, own, root);
  }
  return part;
}

function first(key: string, schema: Schema, root: Schema): Value {
  const inner = resolved(schema, root);
  if (inner.enum) return inner.enum[key === "width" ? 2 : 0] ?? "";
  if (inner.type === "array") return [];
  if (inner.properties) return begun(inner, root);
  if (inner.type === "integer") return key === "bytes" ? 4096 : 0;
  return key === "bits" ? 0 : "";
}

/** Return a value as the form shows it. */
export function shown(key: string, value: Value | undefined): string {
  const digits = HEXADECIMAL[key];
  if (typeof value === "number" && digits) return `0x${value.toString(16).padStart(digits, "0")}`;
  return value === null || value === undefined ? "" : String(value);
}
