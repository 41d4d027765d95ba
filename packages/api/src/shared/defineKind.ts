import { displayName, InvalidResource, type Kind, type Metadata, type Problem, type Resource } from "@isthmus/core";
import type { Static, TSchema } from "@sinclair/typebox";
import { Ajv, type ValidateFunction } from "ajv";
import { MOST_PROBLEMS, problemsIn } from "./problems.ts";
import { unknownFields, unknownFieldText } from "./unknownFields.ts";

/** A JSON value of a schema's type, immutable. */
export type Value<S extends TSchema> = DeepReadonly<Static<S>>;
type DeepReadonly<T> = T extends (infer E)[]
  ? readonly DeepReadonly<E>[]
  : T extends object
    ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
    : T;

/** The top-level fields of a kind beside apiVersion, kind and metadata. All may be absent, as Kubernetes leaves out what is empty. */
export type Fields = Readonly<Record<string, TSchema>>;

/** A column of `kubectl get`. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly jsonPath: string;
  readonly description?: string;
  /** 0 is always shown, above 0 only with `-o wide`. */
  readonly priority?: number;
}

/** What a CRD says beside the schema; only our own kinds have it. */
export interface CrdDefinition {
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly printerColumns?: readonly PrinterColumn[];
  readonly singular?: string;
  /** One sentence for the reference and `kubectl explain`. */
  readonly description: string;
}

export interface KindDefinition<F extends Fields> {
  readonly apiVersion: string;
  readonly kind: string;
  readonly plural: string;
  /** Defaults to true. */
  readonly namespaced?: boolean;
  /** Every version we understand, the preferred one first; defaults to `apiVersion` alone. */
  readonly versions?: readonly string[];
  readonly fields: F;
  /** No top-level field but these is right, and all are there; what is inside them says so itself. Defaults to false: unknown fields stay. */
  readonly isClosed?: true;
  /** Present for our own kinds: they get a CRD. */
  readonly crd?: CrdDefinition;
}

export interface DefinedKind<R extends Resource, F extends Fields = Fields> extends Kind<R> {
  readonly definition: KindDefinition<F>;
}

export type DefinedResource<F extends Fields> = Resource & { readonly [K in keyof F]?: Value<F[K]> };

/**
 * Declares a kind: from this one value come the static type, `parse`, the CRD and the reference page.
 * Foreign kinds declare only the fields that we touch; the rest is carried along.
 */
export function defineKind<F extends Fields>(
  definition: KindDefinition<F>,
  project?: (resource: DefinedResource<F>) => DefinedResource<F>,
): DefinedKind<DefinedResource<F>, F> {
  const { apiVersion, kind, plural, namespaced = true, versions = [apiVersion] } = definition;
  let validate: ValidateFunction | undefined;

  function parse(input: unknown): DefinedResource<F> {
    // Compiled on first use: a command that reads three kinds must not pay for thirty.
    validate ??= compile(definition);
    const resource = withoutNulls(input);
    if (!isResource(resource)) throw notAResource(nameForErrors(kind, resource), resource);
    if (resource.kind !== kind || !versions.includes(resource.apiVersion)) {
      const problem = `${resource.apiVersion} ${resource.kind} is not ${versions.join(" or ")} ${kind}`;
      throw new InvalidResource(nameForErrors(kind, resource), "apiVersion", problem);
    }
    const [problem, ...further] = problemsIn(validate, resource);
    if (problem === undefined) return resource as DefinedResource<F>;
    const all = [...further, ...misspelt(definition, resource)].slice(0, MOST_PROBLEMS - 1);
    throw new InvalidResource(nameForErrors(kind, resource), problem.path, problem.problem, all);
  }

  return { apiVersion, kind, plural, namespaced, versions, parse, definition, ...(project === undefined ? {} : { project }) };
}

/** Unknown fields of a user's object that is refused anyway: else its author would hear of them only after all else is mended. */
function misspelt({ fields, crd }: Pick<KindDefinition<Fields>, "fields" | "crd">, resource: Resource): readonly Problem[] {
  const { spec } = fields;
  if (crd === undefined || spec === undefined) return [];
  const given = (resource as { readonly spec?: unknown }).spec;
  return unknownFields(spec, given, "spec").map((field) => ({ path: field.path, problem: unknownFieldText(field) }));
}

function compile({ fields, isClosed }: Pick<KindDefinition<Fields>, "fields" | "isClosed">): ValidateFunction {
  // `verbose` gives the failing schema and value, of which messages are made. Without `meta`, the schema of schemas is not compiled once more for
  // each kind: packages/api/test/schemas.test.ts validates all schemas by it. V8 makes as fast code without `optimize`, in half the time.
  const ajv = new Ajv({
    strict: false,
    allErrors: false,
    verbose: true,
    validateFormats: false,
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  ajv.addKeyword({ keyword: "atMostOneOf", type: "object", validate: atMostOneIsSet, errors: false });
  const properties = { metadata: METADATA, ...fields };
  return ajv.compile(
    isClosed
      ? {
          type: "object",
          required: Object.keys(fields),
          properties: { apiVersion: {}, kind: {}, ...properties },
          additionalProperties: false,
        }
      : { type: "object", properties },
  );
}

function atMostOneIsSet(members: readonly string[], value: Readonly<Record<string, unknown>>): boolean {
  return members.filter((member) => value[member] !== undefined).length <= 1;
}

const STRINGS = { type: "object", additionalProperties: { type: "string" } };
const METADATA = {
  type: "object",
  required: ["name"],
  properties: {
    name: { type: "string", minLength: 1 },
    namespace: { type: "string" },
    clusterName: { type: "string" },
    labels: STRINGS,
    annotations: STRINGS,
    generation: { type: "integer" },
    creationTimestamp: { type: "string" },
    deletionTimestamp: { type: "string" },
    uid: { type: "string" },
    resourceVersion: { type: "string" },
    finalizers: { type: "array", items: { type: "string" } },
    managedFields: { type: "array", items: { type: "object" } },
    ownerReferences: {
      type: "array",
      items: {
        type: "object",
        // No API server takes one without them: an object that has one comes from elsewhere.
        required: ["apiVersion", "kind", "name"],
        properties: {
          apiVersion: { type: "string" },
          kind: { type: "string" },
          name: { type: "string" },
          uid: { type: "string" },
          controller: { type: "boolean" },
        },
      },
    },
  },
};

function isResource(value: unknown): value is Resource {
  if (typeof value !== "object" || value === null) return false;
  const { apiVersion, kind, metadata } = value as Partial<Resource>;
  return (
    typeof apiVersion === "string" &&
    typeof kind === "string" &&
    typeof metadata === "object" &&
    metadata !== null &&
    typeof metadata.name === "string"
  );
}

function notAResource(object: string, value: unknown): InvalidResource {
  const metadata: unknown = (value as Partial<Resource> | null)?.metadata;
  if (metadata === undefined && typeof value === "object" && value !== null && !Array.isArray(value))
    return new InvalidResource(object, "metadata", "is required, with a name");
  const name: unknown = typeof metadata === "object" && metadata !== null ? (metadata as Partial<Metadata>).name : "";
  if (typeof name === "string") return new InvalidResource(object, "", "must be an object with apiVersion, kind and metadata.name");
  return new InvalidResource(object, "metadata.name", name === undefined ? "is required" : `must be a string, is ${JSON.stringify(name)}`);
}

function nameForErrors(kind: string, value: unknown): string {
  const metadata: unknown = (value as { readonly metadata?: unknown } | null)?.metadata;
  // Nothing of it is known to be what it should be.
  const { name, namespace, clusterName } = (metadata ?? {}) as Readonly<Record<string, unknown>>;
  const text = (field: unknown): string => (typeof field === "string" ? field : "");
  if (typeof name !== "string") return `${kind} without a name`;
  return `${kind} ${displayName({ name, namespace: text(namespace), clusterName: text(clusterName) })}`;
}

/** The same value without members that are null: Kubernetes means "absent" by them. Copies only what holds one. */
function withoutNulls(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) {
    let copy: unknown[] | undefined;
    for (let i = 0; i < value.length; i++) {
      const element: unknown = value[i];
      const cleaned = withoutNulls(element);
      if (cleaned === element) continue;
      copy ??= [...value];
      copy[i] = cleaned;
    }
    return copy ?? value;
  }
  const members = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const key in members) {
    const member = members[key];
    const cleaned = member === null ? undefined : withoutNulls(member);
    if (cleaned === member) continue;
    copy ??= { ...members };
    if (cleaned === undefined) delete copy[key];
    else copy[key] = cleaned;
  }
  return copy ?? value;
}
