import { AGENT_CLUSTER, type AgentClusterPatch, EnvoyFilter, rootNamespaceOf } from "@isthmus/api";
import { agentAddress } from "../../../policy/hosts/agentAddress.ts";
import { meshCluster } from "../../../policy/policyScope.ts";
import { emptyTranslation, type MeshInputs, type TargetTranslation } from "../../inputs.ts";
import { originOf, outputOf } from "../../outputMetadata.ts";

/**
 * The agent as a cluster of Envoy in all proxies of a mesh, while an AccessLogRecord can be about its workloads. In Istio's root namespace,
 * where a filter without selector is about the whole mesh. Source: istio.io/docs/reference/config/networking/envoy-filter.
 */
export function agentClusterOf({ mesh, accessLogRecords, translationContext }: MeshInputs): TargetTranslation {
  const namespace = rootNamespaceOf(mesh);
  const clusterName = meshCluster(mesh);
  const address = agentAddress(translationContext, { clusterName, agent: mesh.spec?.agentInfo });
  if (accessLogRecords.length === 0 || namespace === "" || clusterName === "" || address === undefined) return emptyTranslation;
  const origin = originOf({ translationContext, parents: accessLogRecords });
  const spec = { configPatches: [patchWith(address)] };
  return { outputs: [outputOf({ name: AGENT_CLUSTER, namespace, clusterName, origin }, EnvoyFilter, spec)], reports: [] };
}

function patchWith({ host, port }: { readonly host: string; readonly port: number }): AgentClusterPatch {
  const type = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const http2 = { "@type": type, explicit_http_config: { http2_protocol_options: {} } } as const;
  return {
    applyTo: "CLUSTER",
    match: { context: "ANY" },
    patch: {
      operation: "ADD",
      value: {
        name: AGENT_CLUSTER,
        type: "STRICT_DNS",
        connect_timeout: "1s",
        typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": http2 },
        load_assignment: {
          cluster_name: AGENT_CLUSTER,
          endpoints: [{ lb_endpoints: [{ endpoint: { address: { socket_address: { address: host, port_value: port } } } }] }],
        },
      },
    },
  };
}
