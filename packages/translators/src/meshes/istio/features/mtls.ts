import type { ConnectionPolicy, Settings } from "@isthmus/api";
import { intern } from "@isthmus/core";
import type { Source } from "../source.ts";
import { defineFeature } from "./feature.ts";

/** The TLS mode of connections to the destination. */
export const mtls = defineFeature({
  field: "mtls",
  writes: "connection",
  sets: { tls: "spec.policy.mtls" },
  fieldsOf: ({ istio }) => (istio?.tlsMode === undefined ? {} : { tls: { mode: istio.tlsMode } }),
});

/**
 * What holds where no policy says anything: the mode that the Settings say. Where they say none, nothing is said of the own cluster, whose
 * proxies and Istio's auto mTLS know which pods have a sidecar; between meshes it is mutual TLS, as their gateways pass nothing else on
 * (istio.io Gateway, AUTO_PASSTHROUGH).
 */
export function defaultConnectionPolicy(settings: Settings | undefined, { remoteMesh }: Pick<Source, "remoteMesh">): ConnectionPolicy {
  const mode = settings?.spec?.mtls?.istio?.tlsMode ?? (remoteMesh === undefined ? undefined : MUTUAL);
  // One for all Destinations.
  return mode === undefined ? NOTHING : intern({ tls: { mode } });
}

/** Whether connections from other meshes with these settings get through the gateways between them. */
export function passesGateways({ tls }: ConnectionPolicy): boolean {
  return tls?.mode === MUTUAL;
}

/** The mode that gateways between meshes pass on. */
export const MUTUAL = "ISTIO_MUTUAL";
const NOTHING: ConnectionPolicy = {};
