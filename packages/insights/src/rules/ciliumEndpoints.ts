import { CiliumEndpoint, KubernetesCluster } from "@isthmus/api";
import type { Index } from "@isthmus/core";
import { kubectl } from "../insight.ts";
import { defineRule, lookUpPart } from "../rule.ts";
import { isRegistration } from "./registrations.ts";

/** In which an endpoint stays until somebody looks; others last for seconds. Source: docs.cilium.io, "Endpoint Lifecycle". */
const STUCK: ReadonlySet<string> = new Set(["not-ready", "invalid"]);

const stuckIn: Index<CiliumEndpoint> = ({ status, metadata }) => (STUCK.has(status?.state ?? "") ? [metadata.clusterName ?? ""] : []);
const ownCluster: Index<KubernetesCluster> = ({ metadata }) => [metadata.name];

const SHOWN = 3;

/** HLT1002, where the Settings have endpoints sent. */
export const endpointsStuck = defineRule({
  code: "HLT1002",
  of: KubernetesCluster,
  reads: {
    stuck: lookUpPart(CiliumEndpoint, {
      key: ownCluster,
      index: stuckIn,
      select: ({ metadata: { namespace = "", name }, status }) => ({ pod: `${namespace}/${name}`, state: status?.state ?? "" }),
    }),
  },
  *find(cluster, { context, lookup }) {
    const stuck = lookup("stuck");
    if (stuck.length === 0 || !isRegistration(cluster, context.namespace)) return;
    const names = stuck.map(({ pod, state }) => `${pod} (${state})`).sort();
    const { name } = cluster.metadata;
    yield {
      message: `Cilium has no working network for ${names.length} pod${names.length === 1 ? "" : "s"}: ${names.slice(0, SHOWN).join(", ")}${names.length > SHOWN ? " and others" : ""}`,
      remedy: {
        text: "see in the log of the Cilium agent of their node what it could not set up",
        command: kubectl({ clusterName: name, namespace: "kube-system" }, "logs", "-l", "k8s-app=cilium", "--tail", "100"),
      },
    };
  },
});
