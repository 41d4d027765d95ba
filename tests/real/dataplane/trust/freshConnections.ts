import type { AnyResource } from "@isthmus/core";

/** One request per connection between proxies: each request is a handshake from end to end. */
export const freshConnections = {
  apiVersion: "networking.istio.io/v1alpha3",
  kind: "EnvoyFilter",
  metadata: { name: "fresh-connections", namespace: "istio-system" },
  spec: {
    configPatches: [
      {
        applyTo: "CLUSTER",
        match: { context: "SIDECAR_OUTBOUND" },
        patch: {
          operation: "MERGE",
          value: {
            typed_extension_protocol_options: {
              "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
                common_http_protocol_options: { max_requests_per_connection: 1 },
                explicit_http_config: { http_protocol_options: {} },
              },
            },
          },
        },
      },
    ],
  },
} as unknown as AnyResource;
