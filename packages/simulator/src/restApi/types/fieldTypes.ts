import type { FieldTypes, ListType } from "../../apply/fieldPath.ts";
import { isMembers, type Members, membersAt } from "../../apply/json.ts";
import { type GoField, type GoStruct, type GoType, structNamed } from "./goTypes.ts";

/** The lists and maps of a built-in kind, by its struct. */
export function goFieldTypes(struct: GoStruct): FieldTypes {
  const known = new Map<string, GoField | undefined>();
  function fieldAt(path: string): GoField | undefined {
    if (known.has(path)) return known.get(path);
    let here: GoStruct | undefined = struct;
    let field: GoField | undefined;
    for (const name of path.split(".")) {
      field = here?.fields.get(name);
      here = field === undefined ? undefined : structIn(field.type);
      if (field === undefined) break;
    }
    known.set(path, field);
    return field;
  }
  return {
    listType(path) {
      const field = fieldAt(path);
      const { list, keys = [] } = field?.traits ?? {};
      if (field === undefined || list === undefined || list === "atomic") return undefined;
      if (list === "set") return "set";
      const element = structIn(field.type);
      return keys.map((name) => withFallback(name, element?.fields.get(name)?.traits.fallback));
    },
    isAtomicMap(path) {
      if (path === "") return false;
      const field = fieldAt(path);
      return field !== undefined && (field.traits.atomic === true || structIn(field.type)?.isAtomic === true || isOpaque(field.type));
    },
  };
}

function withFallback(name: string, fallback: unknown) {
  return fallback === undefined ? { name } : { name, fallback };
}

function structIn(type: GoType): GoStruct | undefined {
  switch (type.form) {
    case "struct":
      return structNamed(type.name);
    case "pointer":
      return structIn(type.to);
    case "list":
    case "map":
      return structIn(type.of);
    default:
      return undefined;
  }
}

function isOpaque(type: GoType): boolean {
  return type.form === "pointer" ? isOpaque(type.to) : type.form === "special";
}

/** The lists and maps of a kind that is defined by a schema. */
export function schemaFieldTypes(schema: Members | undefined): FieldTypes {
  const known = new Map<string, Members | undefined>();
  function schemaAt(path: string): Members | undefined {
    if (known.has(path)) return known.get(path);
    let here: Members | undefined = schema;
    for (const name of path.split(".")) here = here === undefined ? undefined : memberSchema(here, name);
    known.set(path, here);
    return here;
  }
  return {
    listType(path): ListType | undefined {
      if (path === "metadata.finalizers") return "set";
      if (path === "metadata.ownerReferences") return [{ name: "uid" }];
      const found = schemaAt(path);
      const type = found?.["x-kubernetes-list-type"];
      if (type === "set") return "set";
      if (type !== "map") return undefined;
      const keys = found?.["x-kubernetes-list-map-keys"];
      const element = membersAt(membersAt(found ?? {}, "items"), "properties");
      return Array.isArray(keys) ? keys.map((name) => withFallback(String(name), membersAt(element, String(name))["default"])) : undefined;
    },
    isAtomicMap: (path) => path !== "" && schemaAt(path)?.["x-kubernetes-map-type"] === "atomic",
  };
}

function memberSchema(schema: Members, name: string): Members | undefined {
  const holder = isMembers(schema["items"]) && schema["type"] === "array" ? schema["items"] : schema;
  const properties = membersAt(holder, "properties");
  if (Object.hasOwn(properties, name) && isMembers(properties[name])) return properties[name] as Members;
  const additional = holder["additionalProperties"];
  return isMembers(additional) ? additional : undefined;
}
