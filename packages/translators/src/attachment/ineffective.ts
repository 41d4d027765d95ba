import { AccessPolicy, type IneffectiveField, ineffectiveFields, Settings, TrafficPolicy, UNREADABLE, VirtualMesh } from "@isthmus/api";
import { type Finding, invalid, warning } from "../findings.ts";

/** What to say about members of a TrafficPolicy, VirtualMesh or Settings that have no effect. */
export function ineffectiveFindings(object: TrafficPolicy | VirtualMesh | Settings): readonly Finding[] {
  const isWide = isTrafficPolicy(object) && isMisspeltWide(object);
  return fieldsOf(object).map((field) => warning(codeOf(field), messageOf(field, consequenceOf(field, isWide))));
}

/**
 * The same for an AccessPolicy, which is refused wherever leaving a member out could allow too much: in a selector, and where a field
 * that is not known stands beside the selectors.
 */
export function accessFindings(policy: AccessPolicy): readonly Finding[] {
  return fieldsOf(policy).map((field) => {
    if (field.path === UNREADABLE_PATH) return unreadable(policy);
    if (field.type === "unsupported" && !IN_ENTRY.test(field.path)) return warning(codeOf(field), messageOf(field, NO_EFFECT));
    return invalid("SelectorNotUnderstood", messageOf(field, "the policy is refused, as it could allow too much without it"));
  });
}

function unreadable({ spec }: AccessPolicy): Finding {
  const problem = (spec as Readonly<Record<string, unknown>>)[UNREADABLE];
  return invalid("Malformed", typeof problem === "string" ? problem : `${UNREADABLE_PATH}: no such field; the policy is refused`);
}

const UNREADABLE_PATH = `spec.${UNREADABLE}`;

/** Whether all that an AccessPolicy says of who may call, and of what, is understood, whatever it is about. */
export function isRuleUnderstood(policy: AccessPolicy): boolean {
  return fieldsOf(policy).every(
    ({ type, path }) => path.startsWith("spec.destinationSelector[") || (type === "unsupported" && !IN_ENTRY.test(path)),
  );
}

/** What stands under a name that seems to mean destinationSelector. */
export function misspeltSelector(policy: AccessPolicy): { readonly value: unknown } | undefined {
  const misspelt = fieldsOf(policy).find(
    ({ type, path, hint }) => type === "unknown" && isTopLevel(path) && hint === "destinationSelector",
  );
  const name = misspelt?.path.slice("spec.".length);
  return name === undefined ? undefined : { value: (policy.spec as Readonly<Record<string, unknown>>)[name] };
}

// A member of an entry of a selector or of a list of matchers.
const IN_ENTRY = /(sourceSelector|destinationSelectors?|httpRequestMatchers|federation\.selectors)\[\d+\]/;
const NO_EFFECT = "it has no effect";

function consequenceOf({ type, path }: IneffectiveField, isWide: boolean): string {
  if (IN_ENTRY.test(path)) return "the entry it is in selects nothing";
  if (isWide && type === "unknown" && isTopLevel(path)) return "the policy selects nothing, as it could be too wide without it";
  return NO_EFFECT;
}

// The fields that narrow a TrafficPolicy: absent, they mean everything.
const NARROWING = new Set(["sourceSelector", "destinationSelector", "httpRequestMatchers"]);

/** Whether a TrafficPolicy seems to misspell a field that narrows it. It then selects nothing, as it would be too wide otherwise. */
export function isMisspeltWide(policy: TrafficPolicy): boolean {
  return fieldsOf(policy).some(({ type, path, hint }) => type === "unknown" && isTopLevel(path) && NARROWING.has(hint ?? ""));
}

function isTrafficPolicy(object: TrafficPolicy | VirtualMesh | Settings): object is TrafficPolicy {
  return object.kind === TrafficPolicy.kind;
}

function isTopLevel(path: string): boolean {
  return /^spec\.[^.[]+$/.test(path);
}

/** Whether an entry of one of a VirtualMesh's federation selectors has a member of its own that is unknown: it then selects nothing. */
export function isMisspeltSelector(entry: object): boolean {
  return ineffectiveFields(FEDERATION_SELECTOR, entry, "").some(({ path }) => !path.includes(".") && !path.includes("["));
}

const FEDERATION_SELECTOR = VirtualMesh.definition.fields.spec.properties.federation.properties.selectors.items;

const SPECS = {
  TrafficPolicy: TrafficPolicy.definition.fields.spec,
  AccessPolicy: AccessPolicy.definition.fields.spec,
  VirtualMesh: VirtualMesh.definition.fields.spec,
  Settings: Settings.definition.fields.spec,
};

function fieldsOf({ kind, spec }: TrafficPolicy | AccessPolicy | VirtualMesh | Settings): readonly IneffectiveField[] {
  const schema = SPECS[kind as keyof typeof SPECS];
  return ineffectiveFields(schema, spec, "spec");
}

function codeOf({ type }: IneffectiveField): "FieldUnknown" | "FieldUnsupported" {
  return type === "unknown" ? "FieldUnknown" : "FieldUnsupported";
}

function messageOf({ type, path, hint }: IneffectiveField, consequence: string): string {
  if (type === "unsupported") return `${path}: ${hint ?? "not supported"}; ${consequence}`;
  return `${path}: no such field${hint === undefined ? "" : ` (did you mean ${hint}?)`}; ${consequence}`;
}
