import { type AnyResource, discoveredName, type Resource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { type AccessQuery, type AccessVerdict, accessEvaluator, type Translation } from "@isthmus/translators";
import { istioInstallation } from "../harness/istioInstallation.ts";
import { CLUSTER, OTHER, type Surroundings, type World, type WorldService } from "./randomFleets.ts";

/** The trust domain of the other cluster's mesh. */
export const OTHER_TRUST_DOMAIN = "other.example";

/** A mesh with its worlds. */
export interface Installation {
  readonly surroundings: Surroundings;
  /** Of the ConfigMap of the mesh, as users write it. */
  readonly meshConfig: string;
  /** Whether a VirtualMesh joins the two clusters, and whether it closes access. */
  readonly virtualMesh: "NONE" | "OPEN" | "CLOSED";
  readonly worlds: readonly World[];
}

/** The ConfigMap with the mesh configuration. */
export function meshConfigMap(meshConfig: string): AnyResource {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name: "istio", namespace: "istio-system" },
    data: { mesh: meshConfig },
  } as AnyResource;
}

/** What translation makes of an installation. */
export function translated({ surroundings, meshConfig, virtualMesh, worlds }: Installation): Translation {
  const gateways = (resource: AnyResource): AnyResource =>
    resource.kind === "Service" && resource.metadata.name === "istio-ingressgateway"
      ? ({ ...resource, status: { loadBalancer: { ingress: [{ ip: "198.51.100.7" }] } } } as AnyResource)
      : resource;
  const own = istioInstallation({ trustDomain: "" }).map((one) => (one.kind === "ConfigMap" ? meshConfigMap(meshConfig) : one));
  const other = istioInstallation({ trustDomain: OTHER_TRUST_DOMAIN });
  const inCluster = (clusterName: string, resources: readonly AnyResource[]) =>
    resources.map((one) => ({ ...gateways(one), metadata: { ...one.metadata, clusterName } }));
  const resources = [
    ...inCluster(CLUSTER, [...own, ...surroundings.objects, ...worlds.flatMap(({ objects }) => objects)]),
    ...inCluster(OTHER, other),
    ...[CLUSTER, OTHER].map((name) => managed("multicluster.solo.io/v1alpha1", "KubernetesCluster", name, {})),
    ...worlds.flatMap(({ policies }) => policies),
    ...(virtualMesh === "NONE"
      ? []
      : [
          managed("networking.mesh.gloo.solo.io/v1", "VirtualMesh", "joined", {
            meshes: [CLUSTER, OTHER].map((cluster) => ({ name: `istiod-istio-system-${cluster}`, namespace: "gloo-mesh" })),
            federation: { selectors: [{}] },
            globalAccessPolicy: virtualMesh === "CLOSED" ? "ENABLED" : "DISABLED",
          }),
        ]),
  ];
  return soundTranslation(snapshotOf(resources as readonly Resource[]), { namespace: "gloo-mesh", stage: "all", ages: "CREATED" });
}

function managed(apiVersion: string, kind: string, name: string, spec: object): AnyResource {
  return { apiVersion, kind, metadata: { name, namespace: "gloo-mesh" }, spec } as AnyResource;
}

/** The AuthorizationPolicies that are to be written to the cluster, as it has them. */
export function writtenRules({ networking }: Translation): readonly AnyResource[] {
  return [...networking.inCluster(CLUSTER)].flatMap(({ resource }) => {
    const { clusterName: _, ...metadata } = resource.metadata;
    return resource.kind === "AuthorizationPolicy" ? [{ ...resource, metadata } as AnyResource] : [];
  });
}

/** Asks the engine about Services of one translation. */
export function engineOf(translation: Translation): (service: WorldService, question: AccessQuery) => AccessVerdict | undefined {
  const evaluator = accessEvaluator(translation);
  return ({ name, namespace }, question) =>
    evaluator.verdict(
      {
        apiVersion: "discovery.mesh.gloo.solo.io/v1",
        kind: "Destination",
        name: discoveredName({ name, namespace, clusterName: CLUSTER }),
        namespace: "gloo-mesh",
        clusterName: "",
      },
      question,
    );
}
