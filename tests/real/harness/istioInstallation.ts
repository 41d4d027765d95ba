import type { AnyResource } from "@isthmus/core";

/** What Istio's installer leaves in a cluster, as far as a mesh is found by it: a control plane and an east-west gateway. */
export function istioInstallation({ trustDomain }: { readonly trustDomain: string }): readonly AnyResource[] {
  return [
    namespace("istio-system"),
    {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "istio", namespace: "istio-system" },
      data: { mesh: `trustDomain: ${trustDomain}\nrootNamespace: istio-system\n` },
    },
    serviceAccount("istiod"),
    deployment("istiod", { app: "istiod", istio: "pilot" }, "docker.io/istio/pilot:1.31.0"),
    service("istiod", { app: "istiod", istio: "pilot" }, [{ name: "grpc-xds", port: 15010 }]),
    serviceAccount("istio-ingressgateway"),
    deployment("istio-ingressgateway", { app: "istio-ingressgateway", istio: "ingressgateway" }, "docker.io/istio/proxyv2:1.31.0"),
    service(
      "istio-ingressgateway",
      { app: "istio-ingressgateway", istio: "ingressgateway" },
      [
        { name: "http2", port: 80, targetPort: 8080 },
        { name: "tls", port: 15443, targetPort: 15443 },
      ],
      "LoadBalancer",
    ),
  ];
}

/** A namespace, with sidecars for its pods when asked for. */
export function namespace(name: string, { injection = false } = {}): AnyResource {
  const labels = injection ? { labels: { "istio-injection": "enabled" } } : {};
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, ...labels } };
}

function serviceAccount(name: string): AnyResource {
  return { apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "istio-system" } };
}

function deployment(name: string, labels: Readonly<Record<string, string>>, image: string): AnyResource {
  const container = { name: image.includes("pilot") ? "discovery" : "istio-proxy", image };
  const template = { metadata: { labels }, spec: { serviceAccountName: name, containers: [container] } };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "istio-system", labels },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
}

function service(name: string, selector: Readonly<Record<string, string>>, ports: readonly object[], type = "ClusterIP"): AnyResource {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: "istio-system", labels: selector },
    spec: { type, selector, ports },
  };
}
