/** What becomes of a field of Istio's MeshConfig. READ: it is heeded. OURS: our objects say their own, so that it changes nothing of them. REPORTED: it is neither. */
export type MeshConfigUse = "READ" | "OURS" | "REPORTED";

/** A field of Istio's MeshConfig that changes what our objects, or rules about them, come to. */
export interface MeshConfigField {
  readonly field: string;
  readonly use: MeshConfigUse;
  /** What it does with what is translated. */
  readonly effect: string;
  /** Shows it. */
  readonly test: string;
  /** Of a REPORTED field, whether a value differs from what Istio does without it. */
  readonly isReported?: (value: unknown) => boolean;
}

const AS_READ = "packages/translators/testdata/discovery/meshes/mesh-config-as-istio-reads-it.in.yaml";
const AS_REPORTED = "packages/translators/testdata/discovery/meshes/fields-of-a-mesh-config-that-are-not-heeded-are-told.in.yaml";
const PRIVATE = "packages/translators/testdata/federation/where-objects-are-private-ours-say-who-sees-them.in.yaml";
const JUDGED = "tests/real/istioEffect/istioEffect.test.ts";

/** Fields whose absence, or other value, changes nothing are not listed. Source: istio.io/docs/reference/config/istio.mesh.v1alpha1. */
export const MESH_CONFIG_FIELDS: readonly MeshConfigField[] = [
  { field: "trustDomain", use: "READ", effect: "Names callers in rules. Absent: `cluster.local`.", test: JUDGED },
  { field: "trustDomainAliases", use: "READ", effect: "Rules about one of them let in callers of all.", test: JUDGED },
  { field: "rootNamespace", use: "READ", effect: "Rules there are about the whole mesh, ours too. Absent: `istio-system`.", test: JUDGED },
  {
    field: "enableAutoMtls",
    use: "READ",
    effect: "With `false`, callers without a TLS mode have no identity, which AccessPolicies say.",
    test: "packages/translators/test/access.test.ts",
  },
  {
    field: "discoverySelectors",
    use: "READ",
    effect: "What is in other namespaces is not discovered.",
    test: "packages/translators/testdata/discovery/destinations/istio-discovery-selectors-limit-what-is-discovered.in.yaml",
  },
  {
    field: "defaultConfig.proxyMetadata.ISTIO_META_DNS_CAPTURE",
    use: "READ",
    effect: "Without it, hosts of other clusters cannot be resolved, which the VirtualMesh says.",
    test: AS_READ,
  },
  {
    field: "defaultServiceExportTo",
    use: "READ",
    effect: 'ServiceEntries of ours say `exportTo: ["*"]` where others would be private.',
    test: PRIVATE,
  },
  { field: "defaultVirtualServiceExportTo", use: "READ", effect: "The same of VirtualServices.", test: PRIVATE },
  { field: "defaultDestinationRuleExportTo", use: "READ", effect: "The same of DestinationRules.", test: PRIVATE },
  {
    field: "localityLbSetting",
    use: "OURS",
    effect: "DestinationRules with failover have settings of their own.",
    test: "tests/real/dataplane/failover.test.ts",
  },
  {
    field: "outboundTrafficPolicy",
    use: "OURS",
    effect: "Hosts of other clusters are ServiceEntries, which are known in either mode.",
    test: "tests/real/dataplane/dataplane.test.ts",
  },
  {
    field: "pathNormalization",
    use: "REPORTED",
    effect: "Which paths rules and routes see.",
    test: AS_REPORTED,
    isReported: isOtherNormalization,
  },
  {
    field: "defaultHttpRetryPolicy",
    use: "REPORTED",
    effect: "How often a request is tried where no TrafficPolicy says it.",
    test: AS_REPORTED,
    isReported: isGiven,
  },
  {
    field: "serviceSettings",
    use: "REPORTED",
    effect: "Hosts that are called in their own cluster alone.",
    test: AS_REPORTED,
    isReported: isGiven,
  },
  {
    field: "h2UpgradePolicy",
    use: "REPORTED",
    effect: "Whether connections are HTTP/2 where no TrafficPolicy says it.",
    test: AS_REPORTED,
    isReported: (value) => value === "UPGRADE",
  },
];

/** The fields of a mesh configuration that change what our objects come to and that are not heeded. */
export function unheededFields(config: Readonly<Record<string, unknown>>): readonly string[] {
  return MESH_CONFIG_FIELDS.filter(({ field, isReported }) => isReported?.(config[field] ?? config[snakeCase(field)]) === true).map(
    ({ field }) => field,
  );
}

function snakeCase(field: string): string {
  return field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function isGiven(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Array.isArray(value) ? value.length > 0 : Object.keys(value).length > 0;
}

/** Istio's default and BASE are the same. */
function isOtherNormalization(value: unknown): boolean {
  const { normalization } = (typeof value === "object" && value !== null ? value : {}) as { readonly normalization?: unknown };
  return typeof normalization === "string" && normalization !== "DEFAULT" && normalization !== "BASE";
}
