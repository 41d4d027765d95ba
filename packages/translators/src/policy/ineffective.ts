import {
  AccessPolicy,
  type IneffectiveField,
  ineffectiveFields,
  insightSuppressions,
  KubernetesCluster,
  MOST_PROBLEMS,
  Settings,
  TrafficPolicy,
  UNREADABLE,
  VirtualMesh,
  writeModeOf,
} from "@isthmus/api";
import { isClusterName, keptText } from "@isthmus/core";
import { type Finding, invalidFinding, warningFinding } from "../findings.ts";
import { missingMembers } from "./missingMembers.ts";
import { virtualMeshDoubts } from "./virtualMeshDoubts.ts";

/**
 * What to say about members of a TrafficPolicy, VirtualMesh or Settings that have no effect. A TrafficPolicy with an unknown field beside
 * its selectors is INVALID: the field may have been meant to narrow it, and without it the policy would apply to more than was meant.
 */
export function ineffectiveFindings(object: TrafficPolicy | VirtualMesh | Settings): readonly Finding[] {
  return fieldsOf(object).map((field) => {
    if (isTrafficPolicy(object)) {
      return isUnknownBesideSelectors(field)
        ? invalidFinding("SelectorNotUnderstood", messageOf(field, TOO_WIDE, Object.keys(SPECS.TrafficPolicy.properties)))
        : ignoredField(field);
    }
    return isVirtualMesh(object) ? virtualMeshFinding(object, field) : settingFinding(field);
  });
}

/** What to say of a field, and what follows from it. */
export function fieldMessage(field: IneffectiveField, consequence: string): string {
  return messageOf(field, consequence);
}

/** Of a field that is left out. */
export function ignoredField(field: IneffectiveField): Finding {
  return warningFinding(codeOf(field), messageOf(field, consequenceOf(field)));
}

function virtualMeshFinding(virtualMesh: VirtualMesh, field: IneffectiveField): Finding {
  const { federation, gateways, access } = virtualMeshDoubts(virtualMesh);
  const { path } = field;
  if (federation.has(path)) return invalidFinding("SelectorNotUnderstood", messageOf(field, TOO_MUCH_FEDERATED, Object.keys(FEDERATION)));
  if (gateways.has(path)) return warningFinding(codeOf(field), messageOf(field, NO_OTHER_GATEWAY));
  return path === access ? warningFinding(codeOf(field), messageOf(field, CLOSED_AS_MEANT)) : ignoredField(field);
}

const TOO_MUCH_FEDERATED =
  "of this spec nothing is federated, because ignoring the field could federate too much; the rest of it is in force, unless the last accepted spec is";
const NO_OTHER_GATEWAY = "no gateway is used in place of those that it may mean";
const CLOSED_AS_MEANT = "until it is corrected, it counts as globalAccessPolicy: ENABLED";

/** What to say of entries of the Settings that suppress no insights, though that was meant. */
export function suppressionFindings(settings: Settings): readonly Finding[] {
  return insightSuppressions(settings).problems.map(({ path, message }) =>
    warningFinding("SuppressionIgnored", `${path}: ${message}; the entry suppresses nothing`),
  );
}

/** Of a misspelt setting: it counts where it restricts (`settingsInForce`). */
function settingFinding(field: IneffectiveField): Finding {
  const { path, hint = "" } = field;
  const isRestricting = RESTRICTING.some((meant) => `${path.slice(0, path.lastIndexOf("."))}.${hint}`.startsWith(meant));
  return isRestricting
    ? warningFinding(codeOf(field), messageOf(field, `it counts as ${hint} where that restricts, and is ignored else`))
    : ignoredField(field);
}

const RESTRICTING = [
  "spec.policies",
  "spec.workloadClusterResources",
  "spec.relay.registration",
  "spec.relay.sharedToken",
  "spec.discovery.selectors",
];

const TOO_OPEN = "the policy is rejected, because ignoring the field could allow too much";
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
    const known = isUnknownBesideSelectors(field) ? Object.keys(SPECS.AccessPolicy.properties) : [];
    return [invalidFinding("SelectorNotUnderstood", messageOf(field, TOO_OPEN, known))];
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

/** Whether no entry of an AccessPolicy's destinationSelector has a member that is unknown. */
export function isSelectionUnderstood(policy: AccessPolicy): boolean {
  return fieldsOf(policy).every(({ type, path }) => type !== "unknown" || !path.startsWith("spec.destinationSelector["));
}

/** What to say of a registered cluster: fields that nothing reads, and a Secret that is looked for under another name. */
export function registrationFindings(cluster: KubernetesCluster): readonly Finding[] {
  const { name } = cluster.metadata;
  const { secretName = "" } = cluster.spec ?? {};
  const unknown = ineffectiveFields(KubernetesCluster.definition.fields.spec, cluster.spec, "spec").filter(
    ({ path }) => !path.startsWith("spec.providerInfo."),
  );
  const findings = [
    ...unknown.map((field) => warningFinding(codeOf(field), messageOf(field, registrationConsequence(field)))),
    ...modeFindings(cluster),
    ...(isClusterName(name)
      ? []
      : [
          warningFinding(
            "ClusterNameInvalid",
            `metadata.name: ${JSON.stringify(keptText(name, MOST_LETTERS))} is no DNS label of at most 63 lower-case letters, digits and dashes, so no agent can register under it, and host names with it cannot be read: ` +
              "register the cluster under another name",
          ),
        ]),
  ];
  if (secretName === "" || secretName === name) return findings;
  const message =
    `spec.secretName: ${secretName} is not read, because the Secret with the kubeconfig of a cluster has the name of the cluster: ` +
    `rename the Secret to ${name}, or remove the field if an agent runs in the cluster`;
  return [...findings, warningFinding("SecretNameIgnored", message)];
}

function registrationConsequence({ path }: IneffectiveField): string {
  return path.startsWith("spec.managedObjects[") ? "the entry that contains it names no object" : NO_EFFECT;
}

function modeFindings(cluster: KubernetesCluster): readonly Finding[] {
  const { mode = "manage", managedObjects = [] } = cluster.spec ?? {};
  const inForce = writeModeOf(cluster);
  const shown = keptText(mode, MOST_LETTERS);
  const unknown =
    inForce === mode
      ? []
      : [`spec.mode: ${shown} is not a mode, so the cluster is frozen and nothing is written to it: set manage, observe or freeze`];
  const unused =
    managedObjects.length === 0 || inForce === "observe"
      ? []
      : [`spec.managedObjects: no effect, because spec.mode is ${shown}: remove it, or set spec.mode to observe`];
  const incomplete = managedObjects.flatMap((entry, i) => {
    const missing = missingMembers(entry, ["kind", "namespace", "name"]);
    if (missing === undefined) return [];
    return [`spec.managedObjects[${i}]: ${missing}, so it names no object: set kind, namespace and name, or * for any`];
  });
  return [
    ...unknown.map((message) => warningFinding("ModeUnknown", message)),
    ...[...unused, ...incomplete].map((message) => warningFinding("ManagedObjectsIgnored", message)),
  ];
}

// A word that somebody wrote, in a message.
const MOST_LETTERS = 63;

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
// Understood where policies select: entries count for what else they select.
const OTHER_DESTINATIONS = /\.virtualDestination(Matcher|Refs)$/;
// A caller beside those of AccessPolicies.
const ALLOWED_CALLER = /^spec\.cilium\.allowFrom\[\d+\]\./;
// Of insights that are not to be shown.
const SUPPRESSION = /^spec\.insights\.suppressions\[\d+\]\./;
const NO_EFFECT = "the field is ignored";

function consequenceOf({ path }: IneffectiveField): string {
  if (OTHER_DESTINATIONS.test(path)) return "it selects nothing";
  if (ALLOWED_CALLER.test(path)) return "the entry that contains it allows nobody";
  if (SUPPRESSION.test(path)) return "the entry that contains it suppresses nothing";
  return IN_ENTRY.test(path) ? "the entry that contains it selects nothing" : NO_EFFECT;
}

/** Whether a TrafficPolicy has an unknown field beside its selectors: it then selects nothing. */
export function isMisspeltWide(policy: TrafficPolicy): boolean {
  return fieldsOf(policy).some(isUnknownBesideSelectors);
}

function isTrafficPolicy(object: TrafficPolicy | VirtualMesh | Settings): object is TrafficPolicy {
  return object.kind === TrafficPolicy.kind;
}

function isVirtualMesh(object: VirtualMesh | Settings): object is VirtualMesh {
  return object.kind === VirtualMesh.kind;
}

function isTopLevel(path: string): boolean {
  return /^spec\.[^.[]+$/.test(path);
}

/** Whether an entry of one of a VirtualMesh's federation selectors has a member of its own that is unknown: it then selects nothing. */
export function isMisspeltSelector(entry: object): boolean {
  return ineffectiveFields(FEDERATION_SELECTOR, entry, "").some(({ path }) => !path.includes(".") && !path.includes("["));
}

/** Whether an entry of a VirtualMesh's gateway selectors has a member of its own that is unknown: it then selects nothing. */
export function isMisspeltGatewaySelector(entry: object): boolean {
  return ineffectiveFields(GATEWAY_SELECTOR, entry, "").some(({ path }) => !path.includes(".") && !path.includes("["));
}

/** Whether all that an entry of the Settings' `cilium.allowFrom` says is understood; else it allows nobody. */
export function isUnderstoodCaller(entry: object): boolean {
  return ineffectiveFields(ALLOW_FROM, entry, "").length === 0;
}

const FEDERATION = VirtualMesh.definition.fields.spec.properties.federation.properties;
const FEDERATION_SELECTOR = FEDERATION.selectors.items;
const GATEWAY_SELECTOR = FEDERATION.eastWestIngressGatewaySelectors.items;

const ALLOW_FROM = Settings.definition.fields.spec.properties.cilium.properties.allowFrom.items;

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
