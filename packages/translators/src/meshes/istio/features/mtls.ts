import type { ConnectionPolicy, Settings } from "@isthmus/api";
import { intern } from "@isthmus/core";
import type { Source } from "../source.ts";
import { defineFeature } from "./feature.ts";

/** The TLS mode of connections to the destination. */
export const mtls = defineFeature({
  field: "mtls",
  writes: "connection",
  sets: { tls: "spec.policy.mtls" },
  fieldsOf: ({ istio }) => (istio === undefined ? {} : { tls: { mode: istio.tlsMode ?? "DISABLE" } }),
});

/**
 * What holds where no policy says anything: the mode of the Settings. Where they say nothing either, none; but mutual TLS
 * between meshes, as their gateways pass nothing else on (istio.io Gateway, AUTO_PASSTHROUGH).
 */
export function defaultConnectionPolicy(settings: Settings | undefined, { remoteMesh }: Source): ConnectionPolicy {
  const istio = settings?.spec?.mtls?.istio ?? (remoteMesh === undefined ? {} : { tlsMode: MUTUAL });
  // One for all Destinations.
  return intern({ tls: { mode: istio.tlsMode ?? "DISABLE" } });
}

/** Whether connections with these settings get through the gateways between meshes. */
export function passesGateways({ tls }: ConnectionPolicy): boolean {
  return tls?.mode === MUTUAL;
}

const MUTUAL = "ISTIO_MUTUAL";
