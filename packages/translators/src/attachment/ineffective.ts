import { AccessPolicy, type IneffectiveField, ineffectiveFields, Settings, TrafficPolicy, VirtualMesh } from "@isthmus/api";
import { type Finding, invalid, warning } from "../findings.ts";

/** What to say about members of a TrafficPolicy, VirtualMesh or Settings that have no effect. */
export function ineffectiveFindings(object: TrafficPolicy | VirtualMesh | Settings): readonly Finding[] {
  return fieldsOf(object).map((field) => warning(codeOf(field), messageOf(field)));
}

/**
 * The same for an AccessPolicy, which is refused where leaving a member out could allow too much: in a selector, and where a
 * misspelt field would narrow the policy.
 */
export function accessFindings(policy: AccessPolicy): readonly Finding[] {
  return fieldsOf(policy).map((field) => {
    const isInSelector = /^spec\.(sourceSelector|destinationSelector)\[/.test(field.path);
    const isMisspelt = field.type === "unknown" && field.hint !== undefined;
    if (!isInSelector && !isMisspelt) return warning(codeOf(field), messageOf(field));
    return invalid("SelectorNotUnderstood", `${messageOf(field)}; as it could allow too much without it, this policy is refused`);
  });
}

// The fields that narrow a TrafficPolicy: absent, they mean everything.
const NARROWING = new Set(["sourceSelector", "destinationSelector", "httpRequestMatchers"]);

/** Whether a TrafficPolicy seems to misspell a field that narrows it. It then selects nothing, as it would be too wide otherwise. */
export function isMisspeltWide(policy: TrafficPolicy): boolean {
  return fieldsOf(policy).some(({ type, path, hint }) => type === "unknown" && /^spec\.[^.[]+$/.test(path) && NARROWING.has(hint ?? ""));
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

function messageOf({ type, path, hint }: IneffectiveField): string {
  if (type === "unsupported") return `${path}: ${hint ?? "is not supported"}`;
  return `${path}: no such field, it has no effect${hint === undefined ? "" : `: did you mean ${hint}?`}`;
}
