import { ConfigMap, Deployment } from "@isthmus/api";
import type { Resource } from "@isthmus/core";
import { EVIL } from "../drawing/fleetObjects.ts";
import { hostileYaml } from "../drawing/yaml.ts";
import type { Target } from "../target.ts";
import { parsed, startPipeline } from "./pipeline.ts";

const SEEDS = [
  "trustDomain: td\nrootNamespace: istio-system\ndiscoverySelectors:\n- matchLabels: { mesh: 'on' }\n- matchExpressions:\n  - { key: a, operator: In, values: [x, y] }\n",
  "trustDomain: good.local\ntrustDomainAliases: [a, b]\ndefaultConfig:\n  discoveryAddress: istiod.istio-system.svc:15012\n  proxyMetadata: {ISTIO_META_DNS_CAPTURE: 'true'}\n",
  '{"trustDomain": "cluster.local", "discoverySelectors": [], "enableTracing": true}',
  "# a comment\n---\ntrustDomain: >-\n  folded\n  text\nextensionProviders:\n- name: x\n  envoyExtAuthzHttp: {service: s, port: 80}\n",
];

const CONTROL_PLANE: Resource & { readonly spec: object } = {
  apiVersion: Deployment.apiVersion,
  kind: Deployment.kind,
  metadata: { name: "istiod", namespace: "istio-system", clusterName: EVIL },
  spec: {
    selector: { matchLabels: { app: "istiod" } },
    template: { metadata: { labels: { app: "istiod" } }, spec: { containers: [{ name: "discovery", image: "istio/pilot:1.27.0" }] } },
  },
};

/** YAML of a mesh config, which users of a workload cluster write, in the server's discovery. */
export const meshConfig: Target = {
  name: "mesh-config",
  about: "the YAML of Istio's mesh config in a workload cluster: discovery of its mesh; good clusters beside it",
  draw: (random) => hostileYaml(random, SEEDS),
  async start() {
    const pipeline = await startPipeline();
    return {
      take(input) {
        const configMap = {
          apiVersion: ConfigMap.apiVersion,
          kind: ConfigMap.kind,
          metadata: { name: "istio", namespace: "istio-system", clusterName: EVIL },
          data: { mesh: input.toString("utf8") },
        };
        pipeline([CONTROL_PLANE, configMap].flatMap((resource) => parsed(resource) ?? []));
      },
      stop: async () => undefined,
    };
  },
};
