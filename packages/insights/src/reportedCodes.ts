import type { InsightCode, InsightSeverity } from "./insight.ts";

/** What a finding of translation is reported as. */
interface ReportedMeaning {
  readonly severity: InsightSeverity;
  readonly meaning: string;
  readonly remedy: string;
}

/** Codes of insights that translation has found already: of one that is not in force, the severity is `error` all the same. */
export const REPORTED_CODES = {
  CFG1018: reportedAs(
    "warning",
    "Pods have a sidecar of a mesh that was not discovered in their cluster.",
    "install the control plane, or remove the sidecars",
  ),
  CFG1020: reportedAs(
    "warning",
    "An entry of insights.suppressions in the Settings suppresses nothing, because it is incomplete.",
    "complete the entry, or remove it",
  ),
  CFG1101: reportedAs("error", "A resource is not in force, for a reason without a code of its own.", "correct the field"),
  CFG1103: reportedAs("warning", "A resource is in force with a warning that has no code of its own.", "correct the field"),
  CRT1004: reportedAs("warning", "A certificate authority of a mesh is not issued.", "correct the trust of the VirtualMesh"),
  CRT1009: reportedAs("warning", "A key is too small.", "ask for a key of at least 2048 bits"),
  CRT1010: reportedAs("error", "A VirtualMesh has no usable certificate authority.", "set mtlsConfig.shared.rootCertificateAuthority"),
  FED1001: reportedAs("error", "A VirtualMesh names a Mesh that was not discovered.", "correct the name, or register its cluster"),
  FED1002: reportedAs("error", "A Mesh is in two VirtualMeshes.", "remove it from one of them"),
  FED1003: reportedAs(
    "error",
    "A mesh has no gateway that can take traffic from other clusters.",
    "label or select a gateway with a port for TLS",
  ),
  FED1004: reportedAs(
    "error",
    "A gateway for traffic from other clusters has no external address.",
    "look at the load balancer of its Service",
  ),
  FED1006: reportedAs("error", "The trust domain of a mesh is unknown.", "set trustDomain in the mesh configuration of istiod"),
  FED1008: reportedAs("error", "Two objects claim one host name.", "rename one of them"),
  FED1014: reportedAs("warning", "A federation writes very many objects.", "narrow spec.federation.selectors"),
  FED1015: reportedAs("warning", "A federation has nothing to federate.", "correct the selectors of the federation"),
  FED1016: reportedAs(
    "warning",
    "Sidecars do not resolve the hosts of federated services.",
    "set ISTIO_META_DNS_CAPTURE in the mesh configuration",
  ),
  FED1017: reportedAs("warning", "A port of a service is not federated.", "name a port that can be federated"),
  OSM1001: reportedAs("error", "A service has two TrafficSplits.", "merge the policies"),
  OSM1002: reportedAs("error", "A policy asks for something that the mesh of its target cannot do.", "narrow the policy to other meshes"),
  REL1011: reportedAs("warning", "Other clusters leave a cluster out, as its agent is offline.", "connect the agent again"),
  RES1001: reportedAs("warning", "A setting keeps traffic from failing over.", "complete outlier detection"),
  RTE1001: reportedAs("error", "Traffic is sent to a service that does not exist.", "correct the service"),
  RTE1002: reportedAs("error", "A policy selects no Destination.", "correct the selector"),
  RTE1003: reportedAs("error", "A port of a service is missing, or does not exist.", "set a port that the service has"),
  RTE1004: reportedAs("warning", "Two policies set one field of one Destination.", "merge the policies, or narrow one of them"),
  RTE1005: reportedAs("warning", "A host is configured by an Istio object of a user as well.", "remove one of the two"),
  RTE1006: reportedAs("warning", "A rule for requests is never reached.", "reorder or remove it"),
  RTE1010: reportedAs("error", "A subset has labels that no pod has.", "correct the labels"),
  RTE1011: reportedAs("warning", "The weights of a traffic shift are missing or do not add up.", "set weights that add up to 100"),
  RTE1013: reportedAs("warning", "A timeout cuts retries short.", "raise the timeout, or lower attempts or perTryTimeout"),
  RTE1015: reportedAs("error", "The target of mirrored requests does not exist.", "correct the service"),
  RTE1016: reportedAs("error", "A selector is not understood.", "correct the members of the selector"),
  RTE1019: reportedAs("warning", "Traffic is sent to a service of another cluster that is not federated.", "federate it in a VirtualMesh"),
  SEC1001: reportedAs("error", "An access rule denies all callers.", "add an AccessPolicy"),
  SEC1002: reportedAs("warning", "A mesh accepts calls in plain text.", "enforce strict mutual TLS"),
  SEC1004: reportedAs("warning", "An access rule applies to nothing.", "correct the selector"),
  SEC1005: reportedAs("error", "A rule names a service account that no workload runs as.", "correct the service account"),
  SEC1006: reportedAs("error", "A rule needs identities that the mesh cannot prove.", "enable mutual TLS with a shared root"),
  SEC1012: reportedAs(
    "warning",
    "The network layer and the access rules of a mesh do not agree.",
    "correct the policy of the network layer",
  ),
  SEC1013: reportedAs("warning", "A rule lets every caller in.", "name the callers"),
} as const satisfies Readonly<Partial<Record<InsightCode, ReportedMeaning>>>;

/** A code that is reported from translation. */
export type ReportedCode = keyof typeof REPORTED_CODES;

function reportedAs(severity: InsightSeverity, meaning: string, remedy: string): ReportedMeaning {
  return { severity, meaning, remedy };
}
