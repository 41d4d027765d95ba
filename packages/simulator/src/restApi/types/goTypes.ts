import { brotliDecompressSync } from "node:zlib";
import { typesData } from "../gen/types.ts";

/** What is known of a field beside its tags in Go. */
interface FieldTraits {
  readonly keys?: readonly string[];
  readonly list?: "map" | "set" | "atomic";
  readonly atomic?: boolean;
  readonly fallback?: unknown;
  readonly required?: boolean;
  /** The patch strategy of strategic merge patches. */
  readonly patch?: string;
  readonly mergeKey?: string;
}

/** One field of a struct. */
export interface GoField {
  /** Its name in JSON; "" for a struct whose fields are inlined. */
  readonly json: string;
  /** Its number in protobuf; 0 without one. */
  readonly number: number;
  readonly type: GoType;
  readonly omitsEmpty: boolean;
  /** A struct that is left out where it is zero, as times are. */
  readonly omitsZero: boolean;
  readonly isInlined: boolean;
  readonly traits: FieldTraits;
}

/** A type of Go, as far as JSON shows it. */
export type GoType =
  | { readonly form: "pointer"; readonly to: GoType }
  | { readonly form: "list"; readonly of: GoType }
  | { readonly form: "map"; readonly of: GoType }
  | { readonly form: "struct"; readonly name: string }
  /** `name` is what messages call it: string, int32, bool, v1.RestartPolicy. */
  | { readonly form: "scalar"; readonly kind: string; readonly name: string }
  /** What reads and writes its JSON itself: Time, Quantity, IntOrString. */
  | { readonly form: "special"; readonly name: string };

/** A struct with the fields that its JSON has, in Go's order. */
export interface GoStruct {
  readonly name: string;
  /** As declared, inlined structs as one field. */
  readonly declared: readonly GoField[];
  /** What JSON shows. */
  readonly fields: ReadonlyMap<string, GoField>;
  /** Server-side apply takes it as one value. */
  readonly isAtomic: boolean;
}

/** One resource as aggregated discovery has it. */
export interface DiscoveredResource {
  readonly resource: string;
  readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
  readonly scope: "Cluster" | "Namespaced";
  readonly singularResource: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly verbs: readonly string[];
  readonly subresources?: readonly {
    readonly subresource: string;
    readonly responseKind: { readonly group: string; readonly version: string; readonly kind: string };
    readonly verbs: readonly string[];
  }[];
}

/** A resource as the discovery of one version lists it. */
export interface LegacyResource {
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly storageVersionHash?: string;
}

interface Data {
  readonly kinds: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly structs: Readonly<Record<string, readonly (readonly [string, number, string, string, FieldTraits?])[]>>;
  readonly groups: readonly {
    readonly metadata: { readonly name: string };
    readonly versions: readonly { readonly version: string; readonly resources: readonly DiscoveredResource[] }[];
  }[];
  readonly core: { readonly resources: readonly LegacyResource[] };
  readonly hashes: Readonly<Record<string, string>>;
}

let data: Data | undefined;

function loaded(): Data {
  data ??= JSON.parse(brotliDecompressSync(Buffer.from(typesData, "base64")).toString("utf8")) as Data;
  return data;
}

/** The groups of Kubernetes itself, in the order of its discovery, without the one that has no name. */
export function builtInGroups(): Data["groups"] {
  return loaded().groups;
}

/** The resources of `v1`. */
export function coreResources(): readonly LegacyResource[] {
  return loaded().core.resources;
}

/** The hash of the version that a resource is stored in, as discovery tells it: of `apps/v1/deployments`. */
export function storageHash(resource: string): string | undefined {
  return loaded().hashes[resource];
}

const structs = new Map<string, GoStruct>();

/** The struct of a built-in kind; undefined for any other kind. */
export function structOfKind(apiVersion: string, kind: string): GoStruct | undefined {
  const types = loaded().kinds[apiVersion];
  const name = types !== undefined && Object.hasOwn(types, kind) ? types[kind] : undefined;
  return name === undefined ? undefined : structNamed(name);
}

/** A struct by its name, such as `core/v1.PodSpec`. Throws Error for one that is not known, a mistake of the caller. */
export function structNamed(name: string): GoStruct {
  const known = structs.get(name);
  if (known !== undefined) return known;
  const rows = loaded().structs[name];
  if (rows === undefined) throw new Error(`no Go struct is named ${name}`);
  const declared = rows
    .filter(([, , type]) => type !== "")
    .map(
      ([json, number, type, flags, traits]): GoField => ({
        json,
        number,
        type: parsedType(type),
        omitsEmpty: flags.includes("o"),
        omitsZero: flags.includes("z"),
        isInlined: flags.includes("i"),
        traits: traits ?? {},
      }),
    );
  const fields = new Map<string, GoField>();
  for (const field of declared) {
    if (!field.isInlined) fields.set(field.json, field);
    else for (const [json, inner] of structNamed(inlinedName(field)).fields) fields.set(json, inner);
  }
  const struct = { name, declared, fields, isAtomic: rows.some(([, , , flags]) => flags === "a") };
  structs.set(name, struct);
  return struct;
}

/** The struct that a field without a name of its own holds. */
export function inlinedName({ type }: GoField): string {
  const target = type.form === "pointer" ? type.to : type;
  return target.form === "struct" ? target.name : "";
}

function parsedType(text: string): GoType {
  if (text.startsWith("*")) return { form: "pointer", to: parsedType(text.slice(1)) };
  if (text.startsWith("[]")) return { form: "list", of: parsedType(text.slice(2)) };
  if (text.startsWith("map:")) return { form: "map", of: parsedType(text.slice(4)) };
  if (text.includes("=")) {
    const [kind = "", name = ""] = text.split("=");
    return { form: "scalar", kind, name };
  }
  if (text.includes("/")) return { form: "struct", name: text };
  if (SCALARS.has(text)) return { form: "scalar", kind: text, name: text };
  return { form: "special", name: text };
}

const SCALARS: ReadonlySet<string> = new Set(["string", "bool", "int32", "int64", "float64"]);

/** How Go's messages name a type: `v1.PodSpec`, `[]string`, `map[string]string`. */
export function goName(type: GoType): string {
  switch (type.form) {
    case "pointer":
      return goName(type.to);
    case "list":
      return `[]${goName(type.of)}`;
    case "map":
      return `map[string]${goName(type.of)}`;
    case "struct":
      return type.name.slice(type.name.indexOf("/") + 1);
    case "scalar":
      return type.name;
    default:
      return type.name === "bytes" ? "[]uint8" : `v1.${type.name}`;
  }
}
