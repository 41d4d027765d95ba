import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { AnyResource } from "@isthmus/core";
import type { Components } from "./components.ts";
import { namespace } from "./istioInstallation.ts";
import { objectsIn } from "./manifests.ts";

const SHOP = "shop";

/** The CRDs of Open Service Mesh: those of SMI, and with `own` those of its settings too. */
export function osmCrds({ osm }: Components, { own = false } = {}): readonly AnyResource[] {
  const folder = join(osm, "cmd/osm-bootstrap/crds");
  const files = readdirSync(folder).filter((file) => file.startsWith("smi_") || (own && file.startsWith("config_meshconfig")));
  return files.flatMap((file) => objectsIn(readFileSync(join(folder, file), "utf8")));
}

/** What Open Service Mesh leaves in a cluster, as far as it is found by it: its controller, and a shop with its proxies. */
export function osmInstallation(): readonly AnyResource[] {
  return [
    namespace("osm-system"),
    deployment("osm-controller", "osm-system", {
      containers: [{ name: "osm-controller", image: "openservicemesh/osm-controller:v1.2.4" }],
    }),
    namespace(SHOP),
    ...["cart", "till"].map((name) => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: SHOP } })),
    deployment("cart-v1", SHOP, injected("cart"), { app: "cart", version: "v1" }),
    deployment("cart-v2", SHOP, injected("cart"), { app: "cart", version: "v2" }),
    service("cart", { app: "cart" }),
    service("cart-v1", { app: "cart", version: "v1" }),
    service("cart-v2", { app: "cart", version: "v2" }),
  ];
}

/** Source: github.com/openservicemesh/osm, pkg/injector. */
function injected(serviceAccountName: string): object {
  return {
    serviceAccountName,
    initContainers: [{ name: "osm-init", image: "openservicemesh/init:v1.2.4" }],
    containers: [
      { name: "cart", image: "cart" },
      { name: "envoy", image: "envoyproxy/envoy:v1.19.3" },
    ],
  };
}

function deployment(name: string, at: string, spec: object, labels: Readonly<Record<string, string>> = { app: name }): AnyResource {
  const marked = at === SHOP ? { ...labels, "osm-proxy-uuid": "4cf4a7c2" } : labels;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: at, labels },
    spec: { replicas: 1, selector: { matchLabels: labels }, template: { metadata: { labels: marked }, spec } },
  } as AnyResource;
}

function service(name: string, selector: Readonly<Record<string, string>>): AnyResource {
  const ports = [
    { name: "http", port: 8080 },
    { name: "tcp-till", port: 8443 },
  ];
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, namespace: SHOP, labels: { app: name } },
    spec: { selector, ports },
  } as AnyResource;
}
