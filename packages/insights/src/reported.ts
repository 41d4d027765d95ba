import { AccessPolicy, VirtualMesh } from "@isthmus/api";
import { type Report, type ResourceRef, resourceKeyOf } from "@isthmus/core";
import { type DISCOVERY_FINDINGS, type FINDINGS, reportTables } from "@isthmus/translators";
import { type Derived, derived, inputTable, reuseIfEqual } from "@isthmus/translators/incremental";
import { CATALOGUE, type ReportedCode } from "./catalogue/catalogue.ts";
import { categoryOf, editCommand, type Insight, type InsightSeverity } from "./insight.ts";
import type { InsightRow, InsightTables } from "./rule.ts";

type ReportCode = keyof typeof FINDINGS | keyof typeof DISCOVERY_FINDINGS;

/** By which code translation's own findings are reported: nothing of them is computed again. What is not listed is `CFG1101` or `CFG1103`. */
const REPORTED_AS: { readonly [C in ReportCode]?: ReportedCode | ((subject: ResourceRef) => ReportedCode) } = {
  // Routing
  TrafficShiftTargetUnknown: "RTE1001",
  DestinationUnknown: (subject) => (subject.kind === VirtualMesh.kind ? "FED1015" : "RTE1002"),
  DestinationRefIncomplete: "RTE1002",
  SelectsNothing: "RTE1002",
  NothingSelected: (subject) => (subject.kind === AccessPolicy.kind ? "SEC1004" : "RTE1002"),
  PortMissing: "RTE1003",
  PortUnknown: "RTE1003",
  FieldConflict: "RTE1004",
  UserConfigConflict: "RTE1005",
  RouteShadowed: "RTE1006",
  PathNeverMatches: "RTE1006",
  MethodUnknown: "RTE1006",
  SubsetUnknown: "RTE1010",
  WeightsMissing: "RTE1011",
  WeightsUneven: "RTE1011",
  RetriesCutShort: "RTE1013",
  MirrorTargetMissing: "RTE1015",
  MirrorTargetUnknown: "RTE1015",
  SelectorNotUnderstood: "RTE1016",
  NotFederated: "RTE1019",
  // Federation
  MeshUnknown: "FED1001",
  MeshRefIncomplete: "FED1001",
  MeshTaken: "FED1002",
  GatewayMissing: "FED1003",
  GatewayUnusable: "FED1003",
  GatewayNotSelected: "FED1003",
  GatewayUnreachable: "FED1004",
  TrustDomainUnknown: "FED1006",
  TrustDomainKept: "FED1006",
  TrustDomainInvalid: "FED1006",
  TrustDomainChanged: "FED1006",
  HostTaken: "FED1008",
  OutputCollision: "FED1008",
  FederationLarge: "FED1014",
  FederationTooLarge: "FED1014",
  NothingFederated: "FED1015",
  DnsProxyingMissing: "FED1016",
  PortNotFederated: "FED1017",
  PortMissingAtPods: "FED1017",
  NoPortToFederate: "FED1017",
  OfflineExcluded: "REL1011",
  // Certificates
  CertificateAuthorityMissing: "CRT1010",
  RootSecretIncomplete: "CRT1010",
  TrustModelMissing: "CRT1010",
  KeyTooSmall: "CRT1009",
  CertificatesNotIssued: "CRT1004",
  // Access
  NobodyLetIn: "SEC1001",
  PermissiveMesh: "SEC1002",
  ServiceAccountUnknown: "SEC1005",
  TrustDomainShared: "SEC1017",
  AccessNarrowed: "SEC1019",
  AccessWidened: "SEC1019",
  CallersWithoutIdentity: "SEC1019",
  TrustDomainLocal: "SEC1017",
  ControlPlaneNotTrusted: "SEC1018",
  CiliumNotTrusted: "SEC1018",
  GatewayNotTrusted: "SEC1018",
  ControlPlaneGone: "SEC1020",
  CiliumGone: "SEC1020",
  MeshHeld: "SEC1020",
  MutualTlsNeeded: "SEC1006",
  NetworkLayerOpen: "SEC1012",
  AllCallersAllowed: "SEC1013",
  // Others
  FailoverIncomplete: "RES1001",
  TrafficSplitTaken: "OSM1001",
  PolicyUnsupported: "OSM1002",
  SidecarWithoutMesh: "CFG1018",
  PodsOfNoWorkload: "CFG1022",
  SuppressionIgnored: "CFG1020",
};

/** Translation's findings as insights, row by row of the tables that hold them. */
export const REPORTED_ROWS: readonly Derived<InsightTables, InsightRow>[] = reportTables((table, reportsOf) =>
  derived({
    // No join goes back to a row.
    from: inputTable(
      ({ translation }: InsightTables) => table(translation),
      () => "",
    ),
    context: ({ context }) => context,
    joins: {},
    make: (row, { key, before }) => {
      const insights = reportsOf(row).flatMap((report) =>
        report.state === "ACCEPTED" || IN_STATUSES_ALONE.has(report.code) ? [] : [insightOfReport(report)],
      );
      return insights.length === 0 ? undefined : reuseIfEqual<InsightRow>({ key, insights }, before);
    },
  }),
);

/** What statuses say of work that is under way, such as an upgrade: it is no fault. */
const IN_STATUSES_ALONE: ReadonlySet<string> = new Set<ReportCode>([
  "RevisionNotJoined",
  // Only a VirtualMesh of several needs a gateway for others, and says where one is missing.
  "IngressGatewayUnusable",
]);

/** The code by which a report becomes an insight. */
function reportedCodeOf({ code: reported, state, subject }: Report): ReportedCode {
  // Reports have codes of the two catalogues, and of none else.
  const code = REPORTED_AS[reported as ReportCode];
  if (code === undefined) return state === "WARNING" ? "CFG1103" : "CFG1101";
  return typeof code === "string" ? code : code(subject);
}

function insightOfReport(report: Report): Insight {
  const { subject, state, message, target } = report;
  const code = reportedCodeOf(report);
  const { severity, remedy } = CATALOGUE[code];
  const field = /^(?:spec|metadata|status|data)(?:\.[\w-]+|\[\d+\])*(?=: )/.exec(message)?.[0] ?? "";
  return {
    code,
    category: categoryOf(code),
    severity: state === "WARNING" ? severity.status : "error",
    object: subject,
    cluster: subject.clusterName,
    field,
    message: field === "" ? message : message.slice(field.length + 2),
    remedy: { text: remedy, command: editCommand(subject) },
    ...(target === undefined ? {} : { targets: [target] }),
  };
}

const WEIGHTS: Readonly<Record<InsightSeverity, number>> = { error: 0, warning: 1, info: 2 };

/** Insights by object, code and message; one said of several targets in the same words is one. */
export function gathered(insights: readonly Insight[]): readonly Insight[] {
  const byText = new Map<string, { readonly insight: Insight; readonly targets: ResourceRef[] }>();
  for (const insight of insights) {
    const { object, code, field, message, severity, targets = [] } = insight;
    const key = [resourceKeyOf(object), code, field, message, WEIGHTS[severity]].join("\n");
    const known = byText.get(key);
    if (known === undefined) byText.set(key, { insight, targets: [...targets] });
    else known.targets.push(...targets);
  }
  const keys = [...byText.keys()].sort();
  return keys.flatMap((key) => {
    const found = byText.get(key);
    if (found === undefined) return [];
    const targets = [...new Map(found.targets.map((ref) => [resourceKeyOf(ref), ref]))].sort(([a], [b]) => (a < b ? -1 : 1));
    return targets.length === 0 ? found.insight : { ...found.insight, targets: targets.map(([, ref]) => ref) };
  });
}
