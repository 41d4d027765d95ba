import { countedKind } from "../shared/countedKind.ts";
import { NETWORKING_VERSIONS, SECURITY_VERSIONS } from "./versions.ts";

/** What users write for Istio beside what rules read: one line for each. Source: istio.io/docs/reference/config. */
export const COUNTED_ISTIO_KINDS = [
  countedKind("RequestAuthentication", "requestauthentications", SECURITY_VERSIONS),
  countedKind("Telemetry", "telemetries", ["telemetry.istio.io/v1", "telemetry.istio.io/v1alpha1"]),
  countedKind("WasmPlugin", "wasmplugins", ["extensions.istio.io/v1alpha1"]),
  countedKind("WorkloadEntry", "workloadentries", NETWORKING_VERSIONS),
  countedKind("WorkloadGroup", "workloadgroups", NETWORKING_VERSIONS),
  countedKind("ProxyConfig", "proxyconfigs", ["networking.istio.io/v1beta1"]),
] as const;
