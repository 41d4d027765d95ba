import { brotliDecompressSync } from "node:zlib";
import { isMembers, type Members } from "../../apply/json.ts";
import { schemasData } from "../gen/schemas.ts";

let packed: Readonly<Record<string, Members>> | undefined;

/** The OpenAPI schemas of Kubernetes' own kinds, by name, with all that they say. */
export function builtInSchemas(): Readonly<Record<string, Members>> {
  packed ??= JSON.parse(brotliDecompressSync(Buffer.from(schemasData, "base64")).toString("utf8")) as Readonly<Record<string, Members>>;
  return packed;
}

const PREFIX = "#/components/schemas/";

/** Those of some names, with all that they refer to. */
export function schemasReachedFrom(names: readonly string[]): Record<string, Members> {
  const all = builtInSchemas();
  const reached: Record<string, Members> = {};
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    const schema = all[name];
    if (schema === undefined || reached[name] !== undefined) continue;
    reached[name] = schema;
    collectReferences(schema, waiting);
  }
  return reached;
}

function collectReferences(value: unknown, into: string[]): void {
  if (Array.isArray(value)) for (const each of value) collectReferences(each, into);
  if (!isMembers(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (name === "$ref" && typeof member === "string") into.push(member.slice(PREFIX.length));
    else collectReferences(member, into);
  }
}
