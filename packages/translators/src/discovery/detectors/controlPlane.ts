import type {
  CiliumInstallation,
  ConfigMap,
  Deployment,
  MeshAgentInfo,
  MeshInstallation,
  MeshSpec,
  Node,
  Service,
  SettingsSpec,
} from "@isthmus/api";
import { meshInstallationOf } from "@isthmus/api";
import { type Owner, type Report, refOf } from "@isthmus/core";
import type { LastKnownMesh } from "../../policy/lastKnownMesh.ts";
import { namespaceLocationOf } from "../../policy/podIndexes.ts";
import { finding } from "../findings.ts";
import { imageVersion } from "../image.ts";
import { withoutZeroValues } from "../zeroValues.ts";

/** All that the detection of one mesh may read. */
export interface ControlPlaneInputs {
  readonly deployment: Deployment;
  /** The control plane's mesh configuration; undefined when there is none. */
  readonly configMap: ConfigMap | undefined;
  /** The cluster's first node. */
  readonly firstNode: Node | undefined;
  /** The agent of the cluster; undefined when it has none. */
  readonly agent: MeshAgentInfo | undefined;
  /** The Services of the control plane's namespace, in key order. */
  readonly services: readonly Service[];
  /** The address families of the Services of its cluster, as these say; empty where none says it. */
  readonly ipFamilies: readonly string[];
  /** Names of the namespaces of its cluster whose pods are in ambient mode, in order. */
  readonly ambientNamespaces: readonly string[];
  /** The node of the first gateway pod of the control plane's namespace that runs on one. */
  readonly gatewayNode: Node | undefined;
  /** While none does: a node that is reached from outside. */
  readonly otherNode: Node | undefined;
  /** Cilium in its cluster; undefined without it. */
  readonly cilium: CiliumInstallation | undefined;
  /** On what only looks like Cilium; for the first control plane of a cluster. */
  readonly ciliumReports: readonly Report[];
  /** Namespaces of infrastructure of the cluster, beside the usual ones; undefined where nothing vouches for any. */
  readonly systemNamespaces: readonly string[] | undefined;
  /** Of the Settings. */
  readonly discovery: NonNullable<SettingsSpec>["discovery"];
  /** What was last known of this mesh; undefined when it is new. */
  readonly lastKnown: LastKnownMesh | undefined;
  /** The trust domain that the registration of its cluster names, "" for none; undefined without a registration. */
  readonly acceptedTrustDomain: string | undefined;
  /** The trust domains that meshes of its cluster are known with, in order. */
  readonly knownTrustDomains: readonly string[];
  /** Whether control planes of its cluster have different ones, or one that is not known. */
  readonly severalTrustDomains: boolean;
  /** The one that stays in use where nothing else is known of this mesh; "" for none. */
  readonly pinnedTrustDomain: string;
  readonly owner: Owner;
  readonly namespace: string;
}

/** What a detector makes of a Deployment that is a control plane of its mesh. Without `spec`, the reports say why it can't be managed. */
export interface DetectedMesh {
  readonly spec?: MeshSpec;
  readonly reports: readonly Report[];
}

/** Knows the control plane of one kind of mesh. */
export interface MeshDetector {
  /** Whether a Deployment is such a control plane. */
  isControlPlane(deployment: Deployment): boolean;
  detect(inputs: ControlPlaneInputs): DetectedMesh;
}

/** The first container of a Deployment whose image names all of `parts`. */
export function containerWithImage(
  deployment: Deployment,
  parts: readonly string[],
): { readonly name: string; readonly image: string } | undefined {
  for (const { name = "", image = "" } of deployment.spec?.template?.spec?.containers ?? []) {
    if (parts.every((part) => image.includes(part))) return { name, image };
  }
  return undefined;
}

/** Where a control plane runs, with the version of its container's image; a report when there is no version. */
export function installationOf(
  deployment: Deployment,
  container: { readonly name?: string; readonly image?: string } | undefined,
  region: string,
): MeshInstallation | Report {
  const { name = "", image = "" } = container ?? {};
  const version = imageVersion(image);
  if (version === undefined || (version.tag === "" && version.digest === "")) {
    const problem = version === undefined ? "is not an image reference" : "has neither a tag nor a digest";
    return finding(
      refOf(deployment),
      "INVALID",
      "MeshVersionUnknown",
      `container ${name}: image ${image} ${problem}: set the tag of its version`,
    );
  }
  const { namespace, clusterName } = namespaceLocationOf(deployment);
  return withoutZeroValues({
    namespace,
    cluster: clusterName,
    podLabels: deployment.spec?.selector?.matchLabels ?? {},
    version: version.tag === "" ? version.digest : version.tag,
    region,
  });
}

/** The installation, or the last known one where it is not known, with the report; undefined where none is known. */
export function installationInUse(
  found: MeshInstallation | Report,
  { lastKnown, deployment }: Pick<ControlPlaneInputs, "lastKnown" | "deployment">,
): { readonly installation: MeshInstallation | undefined; readonly reports: readonly Report[] } {
  if (!isReport(found)) return { installation: found, reports: [] };
  const known = lastKnown?.spec && meshInstallationOf({ spec: lastKnown.spec });
  return { installation: known?.namespace === deployment.metadata.namespace ? known : undefined, reports: [found] };
}

/** Whether detection ended in a report. */
function isReport(value: MeshInstallation | Report): value is Report {
  return "code" in value;
}
