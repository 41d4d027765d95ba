import { CiliumNetworkPolicy, Deployment, Mesh } from "@isthmus/api";
import { formatRef, type Index, matchesLabels, refOf } from "@isthmus/core";
import { patchRemedy } from "../insight.ts";
import { defineRule, lookUp, type RuleFinding } from "../rule.ts";
import { istioMinor } from "./federation.ts";
import { byPlace } from "./places.ts";

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

const installationPlace: Index<Mesh> = ({ spec }) => {
  const { namespace, cluster } = spec?.istio?.installation ?? {};
  return namespace === undefined || cluster === undefined ? [] : [`${namespace}/${cluster}`];
};

/** The Deployments of a mesh's namespace that are its control plane, or a gateway of it. */
function controlOf({ spec }: Mesh, deployments: readonly Deployment[]): readonly Deployment[] {
  const { podLabels = {} } = spec?.istio?.installation ?? {};
  return deployments.filter(({ spec: found }) => {
    const labels = found?.template?.metadata?.labels;
    return (Object.keys(podLabels).length > 0 && matchesLabels(podLabels, labels)) || labels?.["istio"] === "ingressgateway";
  });
}

const reads = { deployments: lookUp(Deployment, { key: installationPlace, index: byPlace }) };

/** HLT1001. */
export const controlScaledAway = defineRule({
  code: "HLT1001",
  of: Mesh,
  reads,
  find: (mesh, { lookup }) =>
    controlOf(mesh, lookup("deployments"))
      .filter(({ spec }) => spec?.replicas === 0)
      .map((deployment): RuleFinding => ({ message: `${formatRef(refOf(deployment))} is scaled to 0`, remedy: scaled(deployment) })),
});

/** RES1003. */
export const controlRunsAlone = defineRule({
  code: "RES1003",
  of: Mesh,
  reads,
  find: (mesh, { lookup }) =>
    controlOf(mesh, lookup("deployments"))
      .filter(({ spec }) => spec?.replicas === 1)
      .map(
        (deployment): RuleFinding => ({
          message: `${formatRef(refOf(deployment))} has one pod: while it restarts, ${deployment.spec?.template?.metadata?.labels?.["istio"] === "ingressgateway" ? "no call from other clusters arrives" : "no proxy starts"}`,
          remedy: scaled(deployment),
        }),
      ),
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

const gatewayPlaces: Index<Mesh> = ({ spec, status }) =>
  spec?.istio?.installation?.cluster === undefined || (status?.appliedEastWestIngressGateways ?? []).length === 0
    ? []
    : installationPlace({ spec } as Mesh);

interface WrittenSpec {
  readonly endpointSelector?: { readonly matchLabels?: Readonly<Record<string, string>> };
  readonly ingress?: readonly { readonly toPorts?: readonly { readonly ports?: readonly { readonly port?: string }[] }[] }[];
}

/** SEC1012 of policies of users. */
export const ciliumShutsGateway = defineRule({
  code: "SEC1012",
  of: Mesh,
  reads: { policies: lookUp(CiliumNetworkPolicy, { key: gatewayPlaces, index: byPlace }) },
  find: ({ spec, status }, { lookup }) =>
    (status?.appliedEastWestIngressGateways ?? []).flatMap(({ containerPort }): readonly RuleFinding[] => {
      if (containerPort === undefined) return [];
      const gateways = (spec?.istio?.ingressGateways ?? []).map(({ workloadLabels = {} }) => workloadLabels);
      const labels = gateways.length > 0 ? gateways : [{ istio: "ingressgateway" }];
      return lookup("policies").flatMap((policy): readonly RuleFinding[] => {
        // Users may write anything: what is not of this form is not judged.
        const written = policy.spec as WrittenSpec | undefined;
        if (!Array.isArray(written?.ingress) || !labels.some((pods) => isSelected(written, pods))) return [];
        if (written.ingress.some((rule) => opens(rule, containerPort))) return [];
        const message = `${formatRef(refOf(policy))} selects the gateway and denies all callers on port ${containerPort}: calls from other clusters are dropped`;
        return [{ field: "status.appliedEastWestIngressGateways", message, remedy: { text: `add port ${containerPort} to its ingress` } }];
      });
    }),
});

function isSelected({ endpointSelector }: WrittenSpec, labels: Readonly<Record<string, string>>): boolean {
  const wanted = Object.entries(endpointSelector?.matchLabels ?? {});
  return wanted.every(([key, value]) => labels[key.replace(/^(?:k8s|any)[:.]/, "")] === value);
}

function opens(rule: NonNullable<WrittenSpec["ingress"]>[number] | null, containerPort: number): boolean {
  const toPorts = rule?.toPorts ?? [];
  return toPorts.length === 0 || toPorts.some((part) => (part?.ports ?? []).some(({ port }) => port === String(containerPort)));
}
