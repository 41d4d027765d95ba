import { TrafficPolicy, type TrafficPolicyRules } from "@isthmus/api";
import type { PolicyField } from "../src/meshes/istio/features/feature.ts";

/** What of a schema tells how a right value looks. */
interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
  readonly atMostOneOf?: readonly string[];
  readonly unsupported?: string;
  readonly wanted?: string;
}

const RULES = TrafficPolicy.definition.fields.spec.properties.policy as object as Schema;

/** The fields of a TrafficPolicy that have an effect, as its schema says. */
export function effectiveFields(): readonly string[] {
  return Object.entries(RULES.properties ?? {}).flatMap(([field, { unsupported }]) => (unsupported === undefined ? [field] : []));
}

/** Rules that set one field with all that it can hold. */
export function sampleRules(field: PolicyField): TrafficPolicyRules {
  return { [field]: sampleOf(RULES.properties?.[field] ?? {}) };
}

function sampleOf(schema: Schema): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  switch (schema.type) {
    case "string":
      return schema.wanted?.includes("duration") ? "1s" : "one";
    case "integer":
    case "number":
      return 1;
    case "boolean":
      return true;
    case "array":
      return [sampleOf(schema.items ?? {})];
    default:
      return sampleObject(schema);
  }
}

function sampleObject({ properties = {}, additionalProperties, atMostOneOf = [] }: Schema): object {
  const isLeftOut = (name: string, { unsupported }: Schema) => unsupported !== undefined || atMostOneOf.slice(1).includes(name);
  const entries = Object.entries(properties).filter(([name, member]) => !isLeftOut(name, member));
  const free = additionalProperties === undefined ? {} : { one: sampleOf(additionalProperties as Schema) };
  return { ...free, ...Object.fromEntries(entries.map(([name, member]) => [name, sampleOf(member)])) };
}
