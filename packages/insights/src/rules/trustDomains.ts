import { Deployment, ISTIOD_CONTAINER, Mesh, SKIP_TRUST_DOMAIN_VARIABLE, VirtualMesh } from "@isthmus/api";
import { formatRef, type Index, refOf } from "@isthmus/core";
import { defineRule, lookUp } from "../rule.ts";
import { meshesNamed } from "./places.ts";

type MeshOfIstio = NonNullable<NonNullable<Mesh["spec"]>["istio"]>;

const domainOf = ({ trustDomain }: MeshOfIstio) => trustDomain || "cluster.local";
const everyMesh: Index<VirtualMesh> = () => [""];
// A few in each cluster.
const istiods: Index<Deployment> = (deployment) => (istiodIn(deployment) === undefined ? [] : [""]);

/** What both rules look at. */
const reads = { meshes: lookUp(Mesh, { key: meshesNamed }), istiods: lookUp(Deployment, { key: everyMesh, index: istiods }) };

function istiodIn({ spec }: Deployment) {
  return spec?.template?.spec?.containers?.find(({ name }) => name === ISTIOD_CONTAINER);
}

function isOf({ metadata, spec }: Deployment, { installation }: MeshOfIstio): boolean {
  const revisionOf = (labels: Readonly<Record<string, string>> | undefined) => labels?.["istio.io/rev"] ?? "default";
  const isThere = metadata.namespace === installation?.namespace && metadata.clusterName === installation?.cluster;
  return isThere && revisionOf(spec?.template?.metadata?.labels) === revisionOf(installation?.podLabels);
}

/** Whether proxies of an istiod take callers of any trust domain; undefined where a saved page does not say it. */
function takesAny(deployment: Deployment): boolean | undefined {
  const value = istiodIn(deployment)?.env?.find(({ name }) => name === SKIP_TRUST_DOMAIN_VARIABLE)?.value ?? "";
  return value.startsWith("<") ? undefined : ["1", "t", "true"].includes(value.toLowerCase());
}

/** FED1018. Source: istio.io/docs/reference/commands/pilot-discovery, PILOT_SKIP_VALIDATE_TRUST_DOMAIN. */
export const trustDomainsDiffer = defineRule({
  code: "FED1018",
  of: VirtualMesh,
  reads,
  *find(_, { lookup }) {
    const meshes = lookup("meshes").flatMap((mesh) => (mesh.spec?.istio === undefined ? [] : [{ mesh, istio: mesh.spec.istio }]));
    const distinct = [...new Set(meshes.map(({ istio }) => domainOf(istio)))].sort();
    const refusing = meshes.flatMap(({ mesh, istio }) => {
      const known = [domainOf(istio), ...(istio.trustDomainAliases ?? [])];
      const refused = distinct.filter((domain) => !known.includes(domain));
      const isStrict = lookup("istiods").some((deployment) => isOf(deployment, istio) && takesAny(deployment) === false);
      return refused.length > 0 && isStrict ? [{ mesh, refused }] : [];
    });
    const [first, ...others] = refusing;
    if (first === undefined) return;
    const more = others.length === 0 ? "" : `, and so do ${others.length} more meshes`;
    yield {
      field: "spec.meshes",
      message: `${formatRef(refOf(first.mesh))} refuses callers with the trust domains ${first.refused.join(", ")}${more}`,
      remedy: {
        text: `set ${SKIP_TRUST_DOMAIN_VARIABLE}: "true" in the environment of each istiod, with pilot.env in the values of Istio's chart`,
      },
    };
  },
});

const DNS_CAPTURE = "ISTIO_META_DNS_CAPTURE";

/**
 * FED1019. Hosts of other clusters have no Service that the cluster's DNS knows. Only where the control plane itself is in the input: then its configuration was read.
 * Source: istio.io/docs/ops/configuration/traffic-management/dns-proxy.
 */
export const hostsAreNotResolved = defineRule({
  code: "FED1019",
  of: VirtualMesh,
  reads,
  *find({ spec }, { lookup }) {
    const { federation } = spec ?? {};
    // Another suffix is refused by translation.
    if (federation === undefined || (federation.hostnameSuffix ?? "") !== "" || (spec?.meshes ?? []).length < 2) return;
    const without = lookup("meshes").filter(({ spec: { istio } = {} }) => {
      const isKnown = istio !== undefined && lookup("istiods").some((deployment) => isOf(deployment, istio));
      return isKnown && istio.smartDnsProxyingEnabled !== true;
    });
    const [first, ...others] = without;
    if (first === undefined) return;
    const more = others.length === 0 ? "" : `, nor do those of ${others.length} more meshes`;
    yield {
      field: "spec.federation",
      message: `sidecars of ${formatRef(refOf(first))} do not resolve hosts of other clusters, whose names end in .global${more}`,
      remedy: {
        text: `set ${DNS_CAPTURE}: "true" in meshConfig.defaultConfig.proxyMetadata of each mesh and restart its workloads, or have the cluster's DNS answer for these hosts`,
      },
    };
  },
});
