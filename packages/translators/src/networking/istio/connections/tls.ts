import type { ConnectionPolicy, Settings } from "@isthmus/api";
import type { Source } from "../source.ts";
import type { ConnectionRule } from "./connectionRule.ts";

/** `mtls`: the TLS mode of connections to the destination. */
export const tls: ConnectionRule = ({ mtls }) => (mtls?.istio === undefined ? {} : { tls: { mode: mtls.istio.tlsMode ?? "DISABLE" } });

/**
 * What holds where no policy says anything: the mode of the Settings. Where they say nothing either, none; but mutual TLS
 * between meshes, as their gateways pass nothing else on (istio.io Gateway, AUTO_PASSTHROUGH).
 */
export function defaultConnectionPolicy(settings: Settings | undefined, { remoteMesh }: Source): ConnectionPolicy {
  const istio = settings?.spec?.mtls?.istio ?? (remoteMesh === undefined ? {} : { tlsMode: MUTUAL });
  return withMode(istio.tlsMode ?? "DISABLE");
}

/** One for all Destinations; the schema knows three modes. */
function withMode(mode: string): ConnectionPolicy {
  const policy = policies.get(mode) ?? { tls: { mode } };
  policies.set(mode, policy);
  return policy;
}

const policies = new Map<string, ConnectionPolicy>();

/** Whether connections with these settings get through the gateways between meshes. */
export function passesGateways({ tls }: ConnectionPolicy): boolean {
  return tls?.mode === MUTUAL;
}

const MUTUAL = "ISTIO_MUTUAL";
