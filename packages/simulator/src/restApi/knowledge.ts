import type { FieldTypes } from "../apply/fieldPath.ts";
import type { Members } from "../apply/json.ts";
import type { Knowledge } from "../state.ts";
import { defaulted } from "./custom/structural.ts";
import { builtInDefaults } from "./defaults/builtInDefaults.ts";
import type { ResourceTable } from "./resourceTable.ts";
import { goFieldTypes, schemaFieldTypes } from "./types/fieldTypes.ts";

/** What the REST API knows of kinds: their defaults, and which of their lists and maps are merged. */
export function knowledgeOf(table: () => ResourceTable): Knowledge {
  let known: { readonly table: ResourceTable; readonly types: Map<string, FieldTypes | undefined> } | undefined;
  return {
    fieldTypes(kindKey) {
      const current = table();
      if (known?.table !== current) known = { table: current, types: new Map() };
      if (!known.types.has(kindKey)) known.types.set(kindKey, typesOf(current, kindKey));
      return known.types.get(kindKey);
    },
    completed(kindKey, content) {
      const schema = table().all.find(({ served, custom }) => custom?.schema !== undefined && served?.kindKey === kindKey)?.custom?.schema;
      return schema === undefined ? builtInDefaults(kindKey, content) : (defaulted(schema, content) as Members);
    },
  };
}

function typesOf(table: ResourceTable, kindKey: string): FieldTypes | undefined {
  const resource = table.all.find(({ served }) => served?.kindKey === kindKey);
  if (resource?.struct !== undefined) return goFieldTypes(resource.struct);
  return resource?.custom?.schema === undefined ? undefined : schemaFieldTypes(resource.custom.schema);
}
