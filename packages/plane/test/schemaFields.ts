/** What of a schema tells which fields there are, and how a right value of one looks. */
export interface SchemaNode {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly additionalProperties?: SchemaNode;
  readonly unsupported?: string;
  readonly wanted?: string;
}

/** One field of a schema. `[]` in its path is any entry of a list, `{}` any value of a map. */
export interface SchemaField {
  readonly path: string;
  readonly schema: SchemaNode;
}

/** Every field that holds a value of its own, in the order of the schema: no objects but those that have no members. */
export function leavesOf(schema: SchemaNode, path: string): readonly SchemaField[] {
  const { properties = {}, items, additionalProperties, unsupported } = schema;
  if (unsupported !== undefined) return [{ path, schema }];
  if (items?.properties !== undefined) return leavesOf(items, `${path}[]`);
  if (additionalProperties !== undefined) return leavesOf(additionalProperties, `${path}{}`);
  if (Object.keys(properties).length === 0) return [{ path, schema }];
  return Object.entries(properties).flatMap(([name, member]) => leavesOf(member, `${path}.${name}`));
}

/** Every object in which users may write fields, as far as the schema names them. */
export function objectsOf(schema: SchemaNode, path: string): readonly SchemaField[] {
  const { properties, items, additionalProperties, unsupported } = schema;
  if (unsupported !== undefined) return [];
  if (items !== undefined) return objectsOf(items, `${path}[]`);
  if (additionalProperties !== undefined) return objectsOf(additionalProperties, `${path}{}`);
  if (properties === undefined) return [];
  return [{ path, schema }, ...Object.entries(properties).flatMap(([name, member]) => objectsOf(member, `${path}.${name}`))];
}

/** A right value of a field that is not its default. */
export function exampleOf(schema: SchemaNode): unknown {
  if (schema.enum !== undefined) return schema.enum.at(-1);
  switch (schema.type) {
    case "string":
      return schema.wanted?.includes("duration") === true ? "7s" : "example";
    case "integer":
    case "number":
      return 7;
    case "boolean":
      return true;
    case "array":
      return [exampleOf(schema.items ?? {})];
    default:
      return {};
  }
}

type Tree = { [name: string]: unknown };

/** The steps of a path below the object: `["spec", "selectors", 0, "meshes"]`. */
function stepsOf(path: string): readonly (string | number)[] {
  return path.split(".").flatMap((part) => {
    const name = part.replace(/(\[\]|\{\})+$/, "");
    const rest = part.slice(name.length).match(/\[\]|\{\}/g) ?? [];
    return [name, ...rest.map((sign) => (sign === "[]" ? 0 : keyIn(name)))];
  });
}

/** Under which key a map has its value: one that says something in the world of the tests. */
function keyIn(name: string): string {
  return KEYS[name] ?? "east";
}

const KEYS: Readonly<Record<string, string>> = { labels: "app", subset: "version", matchLabels: "kubernetes.io/metadata.name" };

/** An object with a field in it set to a value. */
export function withField<O extends object>(object: O, path: string, value: unknown): O {
  return changed(object, path, (parent, name) => {
    parent[name] = value;
  });
}

/** An object with all that a field stands in. */
export function withParents<O extends object>(object: O, path: string): O {
  return changed(object, path, () => undefined);
}

function changed<O extends object>(object: O, path: string, change: (parent: Tree, name: string | number) => void): O {
  const copy = structuredClone(object);
  const steps = stepsOf(path);
  let parent = copy as Tree;
  for (const [i, step] of steps.slice(0, -1).entries()) {
    parent[step] ??= typeof steps[i + 1] === "number" ? [] : {};
    parent = parent[step] as Tree;
  }
  change(parent, steps.at(-1) ?? "");
  return copy;
}

/** A path as messages have it: of the first entry of each list. */
export function concretePath(path: string): string {
  const text = stepsOf(path).map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`));
  return text.join("").slice(1);
}

/** An object with a field under another name; undefined: without it. */
export function renamed<O extends object>(object: O, path: string, as: ((name: string) => string) | undefined): O {
  return changed(object, path, (parent, name) => {
    const value = parent[name];
    delete parent[name];
    if (as !== undefined) parent[as(String(name))] = value;
  });
}
