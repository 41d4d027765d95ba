import {
  AccessPolicy,
  type IneffectiveField,
  ineffectiveFields,
  MOST_PROBLEMS,
  Settings,
  TrafficPolicy,
  UNREADABLE,
  VirtualMesh,
} from "@isthmus/api";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";

/**
 * What to say about members of a TrafficPolicy, VirtualMesh or Settings that have no effect. A TrafficPolicy with an unknown field beside
 * its selectors is INVALID: the field may have been meant to narrow it, and without it the policy would apply to more than was meant.
 */
export function ineffectiveFindings(object: TrafficPolicy | VirtualMesh | Settings): readonly Finding[] {
  return fieldsOf(object).map((field) =>
    isTrafficPolicy(object) && isUnknownBesideSelectors(field)
      ? invalidFinding("SelectorNotUnderstood", messageOf(field, TOO_WIDE, Object.keys(SPECS.TrafficPolicy.properties)))
      : warningFinding(codeOf(field), messageOf(field, consequenceOf(field))),
  );
}

const TOO_WIDE = "the policy is rejected, because ignoring the field could make it apply to too much";

function isUnknownBesideSelectors({ type, path }: IneffectiveField): boolean {
  return type === "unknown" && isTopLevel(path);
}

/**
 * The same for an AccessPolicy, which is refused wherever leaving a member out could allow too much: in a selector, and where a field
 * that is not known stands beside the selectors.
 */
export function accessFindings(policy: AccessPolicy): readonly Finding[] {
  return fieldsOf(policy).flatMap((field) => {
    if (field.path === UNREADABLE_PATH) return unreadable(policy);
    if (field.type === "unsupported" && !IN_ENTRY.test(field.path)) return [warningFinding(codeOf(field), messageOf(field, NO_EFFECT))];
    return [
      invalidFinding("SelectorNotUnderstood", messageOf(field, "the policy is rejected, because ignoring the field could allow too much")),
    ];
  });
}

function unreadable({ spec }: AccessPolicy): readonly Finding[] {
  const problems = (spec as Readonly<Record<string, unknown>>)[UNREADABLE];
  const texts =
    typeof problems === "string"
      ? problems.split("\n").slice(0, MOST_PROBLEMS)
      : [`${UNREADABLE_PATH}: unknown field; the policy is rejected`];
  return texts.map((text) => invalidFinding("Malformed", text));
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
const NO_EFFECT = "the field is ignored";

function consequenceOf({ path }: IneffectiveField): string {
  return IN_ENTRY.test(path) ? "the entry that contains it selects nothing" : NO_EFFECT;
}

/** Whether a TrafficPolicy has an unknown field beside its selectors: it then selects nothing. */
export function isMisspeltWide(policy: TrafficPolicy): boolean {
  return fieldsOf(policy).some(isUnknownBesideSelectors);
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

/** `known`: the names to list where none is near, as a word of another product's API is spelled like none of them. */
function messageOf({ type, path, hint }: IneffectiveField, consequence: string, known: readonly string[] = []): string {
  if (type === "unsupported") return `${path}: ${hint ?? "not supported"}; ${consequence}`;
  const list = known.length === 0 ? "" : ` (known fields: ${known.join(", ")})`;
  return `${path}: unknown field${hint === undefined ? list : ` (did you mean ${hint}?)`}; ${consequence}`;
}
