import type { ConnectionPolicy, Settings } from "@isthmus/api";
import type { ConnectionRule } from "./connectionRule.ts";

/** `mtls`: the TLS mode of connections to the destination. */
export const tls: ConnectionRule = ({ mtls }) => (mtls?.istio === undefined ? {} : { tls: { mode: mtls.istio.tlsMode ?? "DISABLE" } });

/** What holds where no policy says anything: the mode of the Settings, else none. */
export function defaultConnectionPolicy(settings: Settings | undefined): ConnectionPolicy {
  return { tls: { mode: settings?.spec?.mtls?.istio?.tlsMode ?? "DISABLE" } };
}
