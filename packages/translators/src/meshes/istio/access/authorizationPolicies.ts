import { type AccessPolicy, AuthorizationPolicy, type AuthorizationRule, type Mesh } from "@isthmus/api";
import { exactly, formatRef, internList, refOf } from "@isthmus/core";
import { type Finding, type FindingCode, invalidFinding, reportOf } from "../../../findings.ts";
import { isSame } from "../../../incremental/rows.ts";
import { clustersOfCallers } from "../../../policy/callerClusters.ts";
import { type AccessTranslation, type EnforcedAccess, effectiveAccessPolicies, enforcedAccess } from "../../enforcedAccess.ts";
import { heldFindings } from "../../heldFindings.ts";
import { type DestinationInputs, emptyTranslation, mergeTranslations, type TargetTranslation } from "../../inputs.ts";
import { type OutputOrigin, outputOf } from "../../outputMetadata.ts";
import { ciliumNetworkPolicyFor } from "../cilium/networkPolicies.ts";
import { limitedToService } from "../sharedPods.ts";
import { callersOf } from "./callers.ts";
import { callersWithoutIdentity } from "./callersWithoutIdentity.ts";
import { trustDomainOf } from "./trustDomainOf.ts";
import { isSharingAllowed, type TrustReading, trustReadingOf } from "./trustReading.ts";
import { usersAccess } from "./usersAccess.ts";

/**
 * Allows what the AccessPolicies on a Destination say, one rule each, and with that nothing else: without any rule nobody is let in. What
 * cannot be translated never opens anything: see `enforcedAccess`. Policies only add up: they never conflict.
 */
export function authorizationPolicyFor(inputs: DestinationInputs, origin: OutputOrigin): TargetTranslation {
  const { destination } = inputs;
  const { kubeService } = destination.spec ?? {};
  if (kubeService === undefined || inputs.accessPolicies.length + inputs.heldAccess.length === 0) return emptyTranslation;
  const matchLabels = kubeService.workloadSelectorLabels ?? {};
  // Without labels the policy would be about every pod of the namespace; in Istio's root namespace, about every pod.
  if (Object.keys(matchLabels).length === 0) {
    const finding = serviceWithoutSelector(formatRef(refOf(destination)));
    return {
      outputs: [],
      reports: effectiveAccessPolicies(inputs, inputs.translationContext.ages).map((policy) =>
        reportOf(refOf(policy), finding, refOf(destination)),
      ),
    };
  }
  const { results, reports } = accessRules(inputs);
  const rules = internList(exactly(results.map(({ result }) => result.rule)));
  const { name = "", namespace = "", clusterName = "" } = kubeService.ref ?? {};
  const spec = { selector: { matchLabels }, ...(rules.length === 0 ? {} : { rules }) } satisfies AuthorizationPolicy["spec"];
  const access = results.map(({ policy, result }) => ({ policy, ...result }));
  const withoutIdentity = callersWithoutIdentity(inputs, results);
  const ofMesh = {
    outputs: [outputOf({ name, namespace, clusterName, origin }, AuthorizationPolicy, spec)],
    reports: [...reports, ...withoutIdentity, ...usersAccess(inputs, results)],
  };
  return mergeTranslations([ofMesh, ciliumNetworkPolicyFor(inputs, access, origin)]);
}

/** The rules that AccessPolicies on a Destination come to, one for each that is in force in some form, in order of precedence. */
export function accessRules(inputs: DestinationInputs): EnforcedAccess<{ readonly form: AccessPolicy; readonly rule: AuthorizationRule }> {
  return enforcedAccess(inputs, (form) => {
    const { result, findings } = ruleFor(form, inputs);
    if (result === undefined) return { result, findings };
    const { rule, findings: onPods } = limitedToService(result, inputs);
    return { result: rule && { form, rule }, findings: onPods.length === 0 ? findings : [...findings, ...onPods] };
  });
}

type TranslatedRule = AccessTranslation<AuthorizationRule>;

type RuleInputs = Pick<DestinationInputs, "mesh" | "callingMeshes" | "alikeMeshes" | "translationContext">;

/** What a policy says of every Destination of a mesh that it selects, when `callingMeshes` are those of its callers, and of others. */
function ruleFor(policy: AccessPolicy, inputs: RuleInputs): TranslatedRule {
  const { mesh, callingMeshes, alikeMeshes } = inputs;
  const ofPolicy = rulesOf.get(policy) ?? new WeakMap<Mesh, KnownRule>();
  const known = ofPolicy.get(mesh);
  // The lists are those of all Destinations for which they are the same.
  const isAlike =
    known?.alikeMeshes.joined === alikeMeshes.joined &&
    known.alikeMeshes.elsewhere === alikeMeshes.elsewhere &&
    known.isSharingAllowed === isSharingAllowed(inputs);
  if (known !== undefined && isAlike && isSame(known.given, callingMeshes)) return known.translated;
  const meshes = meshesOfCallers(policy, callingMeshes);
  if (known !== undefined && isAlike && isSame(known.meshes, meshes)) return known.translated;
  const { spec = {} } = policy;
  const from = fromOf(spec.sourceSelector ?? [], trustReadingOf(inputs, meshes));
  const to = toOf(spec);
  const result =
    from.result === undefined || to.result === undefined
      ? undefined
      : Object.fromEntries([...Object.entries(from.result), ...Object.entries(to.result)]);
  const translated = { result, findings: [...from.findings, ...to.findings, ...heldFindings(mesh)] };
  ofPolicy.set(mesh, { given: callingMeshes, meshes, alikeMeshes, isSharingAllowed: isSharingAllowed(inputs), translated });
  rulesOf.set(policy, ofPolicy);
  return translated;
}

/** Other policies on a Destination bring meshes that this one does not name. */
function meshesOfCallers(policy: AccessPolicy, meshes: readonly Mesh[]): readonly Mesh[] {
  const clusters = new Set(clustersOfCallers(policy));
  return clusters.has("") ? meshes : exactly(meshes.filter((mesh) => clusters.has(trustDomainOf(mesh)?.clusterName ?? "")));
}

interface KnownRule {
  readonly given: readonly Mesh[];
  /** Those of them that its callers may be of. */
  readonly meshes: readonly Mesh[];
  readonly alikeMeshes: DestinationInputs["alikeMeshes"];
  readonly isSharingAllowed: boolean;
  readonly translated: TranslatedRule;
}

/** By the policy, and the mesh that enforces it. */
const rulesOf = new WeakMap<AccessPolicy, WeakMap<Mesh, KnownRule>>();

type AccessPolicySpec = NonNullable<AccessPolicy["spec"]>;

/** Of findings about callers that are left out, while the others of their policy are let in, and about those that are let in all the same. */
const LEFT_OUT: ReadonlySet<string> = new Set<FindingCode>([
  "TrustDomainUnknown",
  "TrustDomainShared",
  "TrustDomainLocal",
  "TrustDomainKept",
]);

function fromOf(selectors: NonNullable<AccessPolicySpec["sourceSelector"]>, reading: TrustReading): TranslatedRule {
  const callers = selectors.map((selector, i) => callersOf(selector, `spec.sourceSelector[${i}]`, reading));
  const findings = callers.flatMap((one) => one.findings);
  const sources = exactly(callers.flatMap(({ source }) => (source === undefined ? [] : [{ source }])));
  // One entry that stands for everybody makes the others pointless; Istio says everybody by leaving `from` out.
  if (callers.length === 0 || callers.some((one) => one.source === undefined && one.findings.length === 0)) return { result: {}, findings };
  // Callers whose names are not known, or stand for others too, can be left out; what is wrong otherwise might have meant something narrower.
  const isUsable = sources.length > 0 && findings.every(({ code }) => LEFT_OUT.has(code));
  return { result: isUsable ? { from: sources } : undefined, findings };
}

function toOf({ allowedPaths = [], allowedMethods = [], allowedPorts = [] }: AccessPolicySpec): TranslatedRule {
  const operation = {
    ...(allowedPaths.length === 0 ? {} : { paths: allowedPaths }),
    ...(allowedMethods.length === 0 ? {} : { methods: allowedMethods }),
    ...(allowedPorts.length === 0 ? {} : { ports: allowedPorts.map(String) }),
  };
  const findings = [
    ...emptyValues("allowedPaths", allowedPaths, "a path such as /info, /info* or *.html"),
    ...emptyValues("allowedMethods", allowedMethods, "a method such as GET"),
    ...allowedPaths.flatMap((path, i) => (/[{}]/.test(path) ? [pathInvalid(i, path)] : [])),
    ...allowedPorts.flatMap((port, i) => (port >= 1 && port <= 65535 ? [] : [portInvalid(i, port)])),
  ];
  const rule: AuthorizationRule = Object.keys(operation).length === 0 ? {} : { to: [{ operation }] };
  return { result: findings.length === 0 ? rule : undefined, findings };
}

// Istio refuses empty values. Source: istio.io/istio pkg/config/security, CheckEmptyValues.
function emptyValues(field: string, values: readonly string[], wanted: string): readonly Finding[] {
  return values.flatMap((value, i) =>
    value === "" ? [invalidFinding("OperationInvalid", `spec.${field}[${i}]: must not be empty: set ${wanted}, or remove it`)] : [],
  );
}

// Istio reads braces as its own path templates, which the API does not have, and refuses all others.
function pathInvalid(position: number, path: string): Finding {
  return invalidFinding(
    "OperationInvalid",
    `spec.allowedPaths[${position}]: "${path}" must not contain braces: set a path such as /info, /info* or *.html`,
  );
}

function portInvalid(position: number, port: number): Finding {
  return invalidFinding("OperationInvalid", `spec.allowedPorts[${position}]: ${port} is not a port number from 1 to 65535`);
}

function serviceWithoutSelector(name: string): Finding {
  return invalidFinding(
    "ServiceWithoutSelector",
    `${name} is a Service without a selector, so its pods are unknown and access to them cannot be restricted: add a selector to the Service, or exclude it from spec.destinationSelector`,
  );
}
