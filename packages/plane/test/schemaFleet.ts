import { type AnyResource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import type { TranslateOptions, Translation } from "@isthmus/translators";

const OPTIONS: TranslateOptions = { namespace: "gloo-mesh", stage: "all", ages: "CREATED" };

const GATEWAY: ServiceOptions = { labels: { istio: "ingressgateway" }, ports: [15443, 15444], portNames: ["tls", "other"] };

const FLEET: readonly AnyResource[] = ["east", "west"].flatMap(clusterObjects);
let ofFleet: Translation | undefined;

/** Two clusters with a mesh, a gateway and three services each: enough for every field that users write to say something about it. */
export function schemaFleet(): readonly AnyResource[] {
  return FLEET;
}

/**
 * What translation makes of objects beside those of the fleet, or in place of them. It follows from the translation of the fleet alone, as from
 * scratch (packages/translators/test/incremental.test.ts): hundreds of tests differ in one object.
 */
export function translatedBesideFleet(objects: readonly AnyResource[]): Translation {
  ofFleet ??= soundTranslation(snapshotOf(FLEET), OPTIONS);
  return soundTranslation(ofFleet.cache.given.apply({ put: objects, remove: [] }), OPTIONS, ofFleet);
}

function clusterObjects(clusterName: string): readonly AnyResource[] {
  return [
    {
      apiVersion: "multicluster.solo.io/v1alpha1",
      kind: "KubernetesCluster",
      metadata: { name: clusterName, namespace: "gloo-mesh" },
      spec: {},
      status: { namespace: "gloo-mesh", agent: { version: "1.0.0", connected: true } },
    },
    ...["istio-system", "shop", "bank"].map((name) => ({
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name, clusterName, labels: { "kubernetes.io/metadata.name": name } },
    })),
    ...controlPlane(clusterName),
    ...service({ name: "istio-ingressgateway", namespace: "istio-system", clusterName }, GATEWAY),
    ...service({ name: "other-gateway", namespace: "istio-system", clusterName }, { ...GATEWAY, labels: { gateway: "other" } }),
    ...service({ name: "cart", namespace: "shop", clusterName }, {}),
    ...service({ name: "stock", namespace: "shop", clusterName }, { ports: [80, 81] }),
    ...service({ name: "cart", namespace: "bank", clusterName }, {}),
  ];
}

function controlPlane(clusterName: string): readonly AnyResource[] {
  const metadata = { namespace: "istio-system", clusterName };
  // Only one of the two resolves host names in its sidecars.
  const proxy = clusterName === "west" ? `\ndefaultConfig: { proxyMetadata: { ISTIO_META_DNS_CAPTURE: "true" } }` : "";
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "istiod", ...metadata },
      spec: {
        selector: { matchLabels: { app: "istiod" } },
        template: { metadata: { labels: { app: "istiod" } }, spec: { containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] } },
      },
    },
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "istio", ...metadata },
      data: { mesh: `trustDomain: ${clusterName}${proxy}` },
    },
  ];
}

interface Place {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

interface ServiceOptions {
  readonly labels?: Readonly<Record<string, string>>;
  readonly ports?: readonly number[];
  readonly portNames?: readonly string[];
}

/** A Service with a pod in the mesh behind it. */
function service(
  { name, ...place }: Place,
  { labels: given, ports: numbers = [80], portNames = [] }: ServiceOptions,
): readonly AnyResource[] {
  const labels = given ?? { app: name, version: "v1" };
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [{ name: "app", image: "app:1" }] } };
  const ports = numbers.map((port, i) => ({ name: portNames[i] ?? `http-${port}`, port, targetPort: port }));
  const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name, controller: true };
  const containers = [
    { name: "app", image: "app:1" },
    { name: "istio-proxy", image: "istio/proxyv2:1.27.0" },
  ];
  const subset = {
    addresses: [{ ip: "10.0.0.9", targetRef: { kind: "Pod", name: `${name}-0`, namespace: place.namespace } }],
    ports: ports.map(({ name: port, targetPort }) => ({ name: port, port: targetPort })),
  };
  return [
    {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name, ...place, labels },
      spec: { type: "LoadBalancer", selector: labels, ports },
      status: { loadBalancer: { ingress: [{ ip: "198.51.100.7" }] } },
    },
    { apiVersion: "apps/v1", kind: "StatefulSet", metadata: { name, ...place }, spec: { selector: { matchLabels: labels }, template } },
    { apiVersion: "v1", kind: "Pod", metadata: { name: `${name}-0`, ...place, labels, ownerReferences: [owner] }, spec: { containers } },
    { apiVersion: "v1", kind: "Endpoints", metadata: { name, ...place }, subsets: [subset] },
  ];
}
