import { RBAC_FILTER, WASM_FILTER, type WasmPatch } from "@isthmus/api";
import type { DeployedFilter } from "../../../policy/forms/wasmDeploymentForm.ts";
import type { AgentAddress } from "../../../policy/hosts/agentAddress.ts";

const ROUTER = "envoy.filters.http.router";

/** What has a proxy ask its agent for a filter. Source: Envoy's API, envoy.config.core.v3.ExtensionConfigSource. */
export function wasmPatchOf({
  filter: { filterContext = "ANY", insertBeforeFilter = "", failClosed = false },
  name,
  address: { host, port },
}: {
  readonly filter: DeployedFilter;
  readonly name: string;
  readonly address: AgentAddress;
}): WasmPatch {
  // The short name was the router's before Envoy 1.14.
  const before = insertBeforeFilter === "" || insertBeforeFilter === "envoy.router" ? ROUTER : insertBeforeFilter;
  return {
    applyTo: "HTTP_FILTER",
    match: {
      context: filterContext,
      listener: { filterChain: { filter: { name: "envoy.filters.network.http_connection_manager", subFilter: { name: before } } } },
    },
    patch: {
      operation: "INSERT_BEFORE",
      value: {
        name,
        config_discovery: {
          // A port is open while no agent answers: what the default says is in force until then.
          apply_default_config_without_warming: true,
          default_config: failClosed ? { "@type": RBAC_FILTER, rules: { action: "ALLOW" } } : { "@type": RBAC_FILTER },
          type_urls: [WASM_FILTER, RBAC_FILTER],
          config_source: {
            resource_api_version: "V3",
            initial_fetch_timeout: "5s",
            api_config_source: {
              api_type: "GRPC",
              transport_api_version: "V3",
              // Envoy only takes a cluster of its bootstrap for discovery, so it is no `envoy_grpc`.
              grpc_services: [
                {
                  google_grpc: {
                    target_uri: `${host}:${port}`,
                    stat_prefix: "gloo-mesh-agent",
                    // gRPC refuses messages above 4 MiB otherwise; a module may have 16.
                    channel_args: { args: { "grpc.max_receive_message_length": { int_value: 20 * 1024 * 1024 } } },
                  },
                },
              ],
            },
          },
        },
      },
    },
  };
}
