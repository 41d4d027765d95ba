import { CiliumNetworkPolicy, Deployment, Destination, Mesh } from "@isthmus/api";
import { type Index, matchesLabels, refOf } from "@isthmus/core";
import { patchRemedy } from "../insight.ts";
import { defineRule, lookUp, type RuleFinding, type RuleReading } from "../rule.ts";
import { istioMinor } from "./federation.ts";
import { byInstallationPlace, byMeshCluster, byObjectCluster, byPlace, isGateway, placeKey } from "./places.ts";

const OLDEST_MINOR = 20;

/** UPG1001. */
export const istioTooOld = defineRule({
  code: "UPG1001",
  of: Mesh,
  reads: {},
  *find({ spec }) {
    const version = spec?.istio?.installation?.version;
    const minor = istioMinor(version);
    if (minor === undefined || minor >= OLDEST_MINOR) return;
    yield {
      field: "spec.istio.installation.version",
      message: `Istio ${version} is older than 1.${OLDEST_MINOR}, the oldest supported version`,
      remedy: { text: "upgrade Istio in this cluster" },
    };
  },
});

/** SEC1015. */
export const ciliumKeepsPoliciesOut = defineRule({
  code: "SEC1015",
  of: Mesh,
  reads: {},
  find: ({ spec }) =>
    (spec?.cilium?.warnings ?? []).map(
      (warning, i): RuleFinding => ({
        field: `spec.cilium.warnings[${i}]`,
        message: warning,
        remedy: { text: "change the setting in cilium-config, and restart Cilium" },
      }),
    ),
});

const placeOfControlPlane: Index<Deployment> = (deployment) =>
  deployment.spec?.template?.metadata?.labels === undefined ? [] : [placeKey(deployment)];
const clusterOfGateway: Index<Deployment> = (deployment) =>
  isGateway(deployment.spec?.template?.metadata?.labels) ? byObjectCluster(deployment) : [];

const reads = {
  installed: lookUp(Mesh, { key: placeOfControlPlane, index: byInstallationPlace }),
  meshes: lookUp(Mesh, { key: clusterOfGateway, index: byMeshCluster }),
};

/** What a Deployment is to the meshes of its cluster; undefined: one of their workloads, or nothing. */
function roleOf({ spec }: Deployment, { lookup }: RuleReading<typeof reads>): "control plane" | "gateway" | undefined {
  const labels = spec?.template?.metadata?.labels;
  const isControlPlane = lookup("installed").some(({ spec: mesh }) => {
    const { podLabels = {} } = mesh?.istio?.installation ?? {};
    return Object.keys(podLabels).length > 0 && matchesLabels(podLabels, labels);
  });
  return isControlPlane ? "control plane" : lookup("meshes").length > 0 ? "gateway" : undefined;
}

/** HLT1001. */
export const controlScaledAway = defineRule({
  code: "HLT1001",
  of: Deployment,
  reads,
  *find(deployment, reading) {
    const role = deployment.spec?.replicas === 0 ? roleOf(deployment, reading) : undefined;
    if (role === undefined) return;
    yield { field: "spec.replicas", message: `is 0: the mesh has no such ${role}`, remedy: scaled(deployment) };
  },
});

/** RES1003. */
export const controlRunsAlone = defineRule({
  code: "RES1003",
  of: Deployment,
  reads,
  *find(deployment, reading) {
    const role = deployment.spec?.replicas === 1 ? roleOf(deployment, reading) : undefined;
    if (role === undefined) return;
    const effect = role === "gateway" ? "no call through the gateway arrives" : "no proxy starts, and none gets changes";
    yield { field: "spec.replicas", message: `is 1: while the pod restarts, ${effect}`, remedy: scaled(deployment) };
  },
});

function scaled(deployment: Deployment): RuleFinding["remedy"] {
  return patchRemedy("scale it to 2 pods or more", refOf(deployment), { spec: { replicas: 2 } });
}

/** HLT0011. */
export const hubbleScaledAway = defineRule({
  code: "HLT0011",
  of: Deployment,
  reads: {},
  *find(deployment) {
    if (deployment.metadata.name !== "hubble-relay" || deployment.spec?.replicas !== 0) return;
    const remedy = patchRemedy("scale it to 1 pod", refOf(deployment), { spec: { replicas: 1 } });
    yield { field: "spec.replicas", message: "is 0: Hubble shows no network flows", remedy };
  },
});

/** CFG1019. */
export const ciliumRefusesPolicy = defineRule({
  code: "CFG1019",
  of: CiliumNetworkPolicy,
  reads: {},
  find: ({ status }) =>
    (status?.conditions ?? []).flatMap(({ type, status: value, message }, i): readonly RuleFinding[] =>
      type === "Valid" && value === "False"
        ? [
            {
              field: `status.conditions[${i}]`,
              message: `Cilium refuses the policy: ${message ?? "no reason was given"}`,
              remedy: "correct what Cilium names",
            },
          ]
        : [],
    ),
});

const ownGateways: Index<Destination> = ({ spec }) => {
  const { namespace = "", clusterName = "" } = spec?.kubeService?.ref ?? {};
  return isGateway(spec?.kubeService?.workloadSelectorLabels) ? [`${namespace}/${clusterName}`] : [];
};
const whereGatewaysAre: Index<Mesh> = (mesh) =>
  (mesh.status?.appliedEastWestIngressGateways ?? []).length === 0 ? [] : byMeshCluster(mesh);

/** SEC1012 of policies of users. */
export const ciliumShutsGateway = defineRule({
  code: "SEC1012",
  of: CiliumNetworkPolicy,
  reads: {
    gateways: lookUp(Destination, { key: byPlace, index: ownGateways }),
    meshes: lookUp(Mesh, { key: byObjectCluster, index: whereGatewaysAre }),
  },
  find: (policy, { lookup }) => {
    // Users may write anything: what is not of this form is not judged.
    const { endpointSelector, ingress } = policy.spec ?? {};
    if (!Array.isArray(ingress)) return [];
    const inUse = lookup("meshes").flatMap(({ status }) => status?.appliedEastWestIngressGateways ?? []);
    return lookup("gateways").flatMap(({ metadata, spec }): readonly RuleFinding[] => {
      const { containerPort } = inUse.find(({ destinationRef }) => destinationRef?.name === metadata.name) ?? {};
      const { ref, workloadSelectorLabels } = spec?.kubeService ?? {};
      if (containerPort === undefined || ref === undefined || !isSelected(endpointSelector, workloadSelectorLabels)) return [];
      if (ingress.some((rule) => opens(rule, containerPort))) return [];
      const message = `denies all callers on port ${containerPort} of gateway ${ref.namespace}/${ref.name}: calls from other clusters are dropped`;
      return [{ field: "spec.ingress", message, remedy: `add port ${containerPort} to its ingress` }];
    });
  },
});

const bare = (key: string) => key.replace(/^(?:k8s|any)[:.]/, "");
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>) : {};

/** Whether a selector surely selects pods with these labels: of a requirement that asks for a label that is not known here, nobody can say. */
function isSelected(selector: unknown, labels: Readonly<Record<string, string>> = {}): boolean {
  const { matchLabels, matchExpressions } = membersOf(selector);
  if (!Object.entries(membersOf(matchLabels)).every(([key, value]) => labels[bare(key)] === value)) return false;
  return listOf(matchExpressions).every((requirement) => {
    const { key, operator, values } = membersOf(requirement);
    if (typeof key !== "string" || !Object.hasOwn(labels, bare(key))) return false;
    const isAmong = listOf(values).includes(labels[bare(key)]);
    return operator === "Exists" || (operator === "In" && isAmong) || (operator === "NotIn" && !isAmong);
  });
}

/** Without ports a rule opens all. A port may be a range, 0 for any, or a name, which is not known here. */
function opens(rule: unknown, containerPort: number): boolean {
  const { toPorts } = membersOf(rule);
  const parts = listOf(toPorts);
  return (
    parts.length === 0 ||
    parts.some((part) =>
      listOf(membersOf(part)["ports"]).some((entry) => {
        const { port, endPort } = membersOf(entry);
        const [first, last] = [Number(port), Number(endPort ?? port)];
        return Number.isNaN(first) || first === 0 || (first <= containerPort && containerPort <= Math.max(first, last));
      }),
    )
  );
}
