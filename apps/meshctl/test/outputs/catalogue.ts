import type { ResourceRef } from "@isthmus/core";
import type { ExplainedCode } from "@isthmus/insights/catalogue";
import type { PrintedInsight, PrintedSuppressed, ReportedFinding } from "@isthmus/insights/report";
import type { CertificateEntry } from "@isthmus/plane";
import type { PrintedEnded } from "../../src/offline/insightsReport.ts";
import { OUTCOMES } from "../../src/offline/whatIf/lostHosts.ts";
import type { ClusterAccessLog } from "../../src/plane/accessLogText.ts";
import type { MeshPlan, RotationPlan, WorkloadPlan } from "../../src/plane/certificates/rotationPlan.ts";
import type { CheckFinding } from "../../src/plane/checks/check.ts";
import type { CheckResult } from "../../src/plane/checks/report.ts";
import type { ClusterMode } from "../../src/plane/comparisonText.ts";
import type { Deletion } from "../../src/plane/deletions.ts";
import type { PlaneVersions } from "../../src/plane/printVersions.ts";
import type { ClusterSync } from "../../src/plane/syncStatus.ts";
import type { Traffic } from "../../src/plane/trafficTable.ts";
import { count, flag, listOf, mapOf, maybe, measure, object, oneOf, resource, type Schema, said, text, time } from "./schema.ts";

/** What commands print with `-o json`. */
export interface Output {
  /** The commands, or those above them. */
  readonly commands: readonly string[];
  /** A sentence. */
  readonly description: string;
  readonly schema: Schema;
}

const ref = object<ResourceRef>({ apiVersion: text, kind: text, name: text, namespace: text, clusterName: text });
const severity = oneOf("error", "warning", "info");

const comparison = object<NonNullable<ClusterMode["comparison"]>>({
  mode: maybe(text),
  same: maybe(count),
  wouldCreate: maybe(count),
  wouldChange: maybe(count),
  wouldDelete: maybe(count),
  conflicts: maybe(count),
  examples: maybe(listOf(text)),
});

const insight = object<PrintedInsight>({
  code: text,
  category: text,
  severity,
  object: ref,
  cluster: said(text, "Of the object; empty for the management cluster."),
  field: said(text, "Path of the member that it is about; empty for the whole object."),
  message: text,
  remedy: object<PrintedInsight["remedy"]>({ text, command: maybe(text), patch: maybe(text) }),
  nearMiss: maybe(text),
  targets: maybe(listOf(ref)),
  file: maybe(text),
  line: maybe(count),
  since: maybe(time),
});

const code = object<ExplainedCode>({
  code: text,
  severity,
  severities: object<ExplainedCode["severities"]>({ rule: maybe(severity), status: maybe(severity) }),
  category: text,
  foundBy: listOf(oneOf("rule", "status")),
  title: text,
  meaning: text,
  consequence: text,
  remedy: text,
  example: text,
});

const certificate = {
  use: text,
  name: text,
  namespace: text,
  cluster: said(text, "Empty for the management cluster."),
  notBefore: maybe(time),
  notAfter: maybe(time),
  state: oneOf("VALID", "EXPIRING", "EXPIRED", "NO_EXPIRY", "UNKNOWN"),
  next: said(text, "What happens next, and who does it."),
  certificate: maybe(said(text, "PEM.")),
  virtualMesh: maybe(text),
  isGenerated: maybe(flag),
};

interface Facts {
  readonly subject?: string;
  readonly issuer?: string;
  readonly serialNumber?: string;
  readonly sha256?: string;
  readonly subjectAltName?: string;
  readonly isAuthority?: boolean;
  readonly publicKey?: string;
}

const end = object<ClusterAccessLog["source"]>({
  namespace: maybe(text),
  name: maybe(text),
  podName: maybe(text),
  address: maybe(text),
  identity: maybe(text),
});

const leg = object<{ host: string; subset?: string; weight: number; tiers: readonly object[] }>({
  host: text,
  subset: maybe(text),
  weight: measure,
  tiers: said(listOf(mapOf(count)), "The first tier with endpoints is used: number of endpoints by cluster."),
});

type Server = PlaneVersions["server"][number];

const component = object<Server["components"][number]>({
  componentName: text,
  images: listOf(object<Server["components"][number]["images"][number]>({ name: text, domain: text, path: text, version: text })),
});

/** By the name of the schema's file. */
export const OUTPUTS: Readonly<Record<string, Output>> = {
  objects: {
    commands: ["get", "describe", "translate", "cluster list", "cluster token shared"],
    description: "A List of objects, also of one or none.",
    schema: object<{ apiVersion: "v1"; kind: "List"; metadata?: object; items: readonly object[] }>({
      apiVersion: oneOf("v1"),
      kind: oneOf("List"),
      metadata: maybe({ type: "object" }),
      items: listOf(resource),
    }),
  },
  checks: {
    commands: ["check", "precheck"],
    description: "Each check, with what it found.",
    schema: object<{ checks: readonly CheckResult[] }>({
      checks: listOf(
        object<CheckResult>({
          category: text,
          description: text,
          findings: listOf(object<CheckFinding>({ code: text, severity: oneOf("error", "warning", "info"), message: text, remedy: text })),
          unread: maybe(said(text, "Why the check could not be made.")),
          suppressed: maybe(said(count, "How many findings -S leaves out.")),
        }),
      ),
    }),
  },
  "cluster-description": {
    commands: ["cluster describe"],
    description: "A KubernetesCluster, and how much was discovered in the cluster.",
    schema: object<{ cluster: object; discovered: object }>({ cluster: resource, discovered: said(mapOf(text), "Numbers by kind.") }),
  },
  diagnosis: {
    commands: ["cluster diagnose"],
    description: "The steps that a cluster has passed, and the first that it has not.",
    schema: object<{ cluster: string; state: string; steps: readonly object[] }>({
      cluster: text,
      state: text,
      steps: listOf(
        object<{ step: string; passed: boolean; cause?: string; next?: string }>({
          step: text,
          passed: flag,
          cause: maybe(text),
          next: maybe(text),
        }),
      ),
    }),
  },
  findings: {
    commands: ["validate"],
    description: "What is wrong with objects in files.",
    schema: object<{ findings: readonly ReportedFinding[] }>({
      findings: listOf(
        object<ReportedFinding>({
          severity: oneOf("info", "warning", "error"),
          code: text,
          message: text,
          file: maybe(text),
          line: maybe(count),
        }),
      ),
    }),
  },
  insights: {
    commands: ["insights"],
    description: "Insights, those that are suppressed, and with --history those that have ended.",
    schema: object<{ insights: readonly object[]; suppressed: readonly object[]; ended?: readonly object[] }>({
      insights: listOf(insight),
      suppressed: listOf(object<PrintedSuppressed>({ insight, reason: text, until: maybe(text), by: text })),
      ended: maybe(
        listOf(
          object<PrintedEnded & { severity?: string }>({
            code: text,
            object: ref,
            severity: maybe(severity),
            field: text,
            message: text,
            since: time,
            until: time,
          }),
        ),
      ),
    }),
  },
  "insight-codes": {
    commands: ["insights list-rules"],
    description: "All codes of insights.",
    schema: object<{ codes: readonly ExplainedCode[] }>({ codes: listOf(code) }),
  },
  "insight-code": { commands: ["insights explain"], description: "One code of insights.", schema: code },
  "what-if": {
    commands: ["what-if"],
    description: "What becomes of hosts without some clusters.",
    schema: object<{ without: readonly string[]; hosts: readonly object[]; notKnown: readonly string[] }>({
      without: listOf(text),
      hosts: listOf(
        object<{
          result: string;
          kind: string;
          host: string;
          callers: readonly string[];
          before: readonly object[];
          now: readonly object[];
          elsewhere?: readonly string[];
        }>({
          result: oneOf(...OUTCOMES),
          kind: oneOf("Service", "FederatedService", "VirtualDestination"),
          host: text,
          callers: said(listOf(text), "The clusters of its callers."),
          before: listOf(leg),
          now: listOf(leg),
          elsewhere: maybe(listOf(text)),
        }),
      ),
      notKnown: listOf(text),
    }),
  },
  "sync-status": {
    commands: ["sync status"],
    description: "How far each cluster has what is desired.",
    schema: object<{ clusters: readonly ClusterSync[] }>({
      clusters: listOf(
        object<ClusterSync>({
          cluster: text,
          state: text,
          synced: oneOf("True", "False", "Unknown"),
          mode: text,
          acknowledged: maybe(text),
          comparison: maybe(comparison),
          managedObjects: maybe(listOf(text)),
          reported: maybe(count),
          queued: maybe(count),
          unacknowledged: maybe(count),
          rejected: maybe(count),
          lagSeconds: maybe(measure),
          message: text,
        }),
      ),
    }),
  },
  deletions: {
    commands: ["explain delete"],
    description: "Deletes, with what they followed from.",
    schema: object<{ items: readonly Deletion[] }>({
      items: listOf(object<Deletion>({ at: time, step: text, object: ref, reason: text, inputs: listOf(ref), snapshot: maybe(text) })),
    }),
  },
  certificates: {
    commands: ["cert list"],
    description: "All certificates and tokens.",
    schema: object<{ certificates: readonly object[] }>({
      certificates: listOf(object<Omit<CertificateEntry, "forecast">>(certificate)),
    }),
  },
  certificate: {
    commands: ["cert inspect"],
    description: "One certificate or token, with what the certificate says where it is known.",
    schema: object<Omit<CertificateEntry, "forecast"> & Facts>({
      ...certificate,
      subject: maybe(text),
      issuer: maybe(text),
      serialNumber: maybe(text),
      sha256: maybe(text),
      subjectAltName: maybe(text),
      isAuthority: maybe(flag),
      publicKey: maybe(text),
    }),
  },
  "rotation-plan": {
    commands: ["cert rotate"],
    description: "With --plan: what a rotation will do.",
    schema: object<RotationPlan>({
      certificate: text,
      change: oneOf("ROOT", "INTERMEDIATE"),
      meshes: listOf(
        object<MeshPlan>({
          mesh: text,
          cluster: text,
          sequence: text,
          rounds: count,
          controlPlanePods: count,
          proxies: count,
          workloads: count,
          restartedBy: oneOf("agent", "you", "nobody"),
          restarts: listOf(object<WorkloadPlan>({ workload: text, pods: count, way: oneOf("rollout", "eviction", "you") })),
          seconds: measure,
          blockers: listOf(text),
          notes: listOf(text),
        }),
      ),
      seconds: measure,
      isComplete: said(flag, "Whether the disruption budgets of all clusters were looked at."),
    }),
  },
  traffic: {
    commands: ["top"],
    description: "Requests between workloads, the most first as --sort says; and the clusters of which nothing is known.",
    schema: object<Traffic>({
      edges: listOf(
        object<Traffic["edges"][number]>({
          cluster: text,
          source: object<Traffic["edges"][number]["source"]>({ namespace: text, workload: text }),
          destination: object<Traffic["edges"][number]["destination"]>({
            namespace: text,
            service: text,
            workload: text,
            cluster: said(text, "Empty for the same cluster."),
          }),
          requests: measure,
          errors: said(measure, "Responses with 5xx, and requests without a response."),
          requestsPerSecond: measure,
          errorPercent: measure,
          p50Ms: maybe(measure),
          p90Ms: maybe(measure),
          p95Ms: maybe(measure),
          p99Ms: maybe(measure),
          requestBytesPerSecond: measure,
          responseBytesPerSecond: measure,
        }),
      ),
      problems: listOf(object<Traffic["problems"][number]>({ cluster: text, problem: text })),
    }),
  },
  "access-logs": {
    commands: ["logs access"],
    description: "Entries of access logs, the newest last. With --follow each is printed by itself.",
    schema: object<{ entries: readonly ClusterAccessLog[] }>({
      entries: listOf(
        object<ClusterAccessLog>({
          cluster: text,
          time,
          protocol: oneOf("http", "tcp"),
          logName: text,
          direction: oneOf("inbound", "outbound", "unknown"),
          proxy: object<ClusterAccessLog["proxy"]>({ namespace: text, workloadName: text, podName: text }),
          verified: flag,
          source: end,
          destination: end,
          method: maybe(text),
          authority: maybe(text),
          path: maybe(text),
          status: maybe(count),
          statusDetails: maybe(text),
          flags: listOf(object<ClusterAccessLog["flags"][number]>({ code: text, meaning: text })),
          failure: maybe(text),
          durationMs: maybe(measure),
          upstreamMs: maybe(measure),
          receivedBytes: count,
          sentBytes: count,
          requestId: maybe(text),
          requestHeaders: maybe(mapOf(text)),
          responseHeaders: maybe(mapOf(text)),
          responseTrailers: maybe(mapOf(text)),
          cut: maybe(flag),
        }),
      ),
    }),
  },
  settings: {
    commands: ["config view"],
    description: "The settings of meshctl, and where each is from.",
    schema: object<{ file: string | null; settings: readonly object[] }>({
      file: { type: ["string", "null"] },
      settings: listOf(object<{ setting: string; value: string; from: string }>({ setting: text, value: text, from: text })),
    }),
  },
  versions: {
    commands: ["version"],
    description: "Versions; server is null where no cluster answers, and absent with --client.",
    schema: object<{ client: object; server?: object | null; agents?: readonly object[] }>({
      client: object<{ version: string }>({ version: text }),
      server: maybe({
        anyOf: [{ type: "null" }, listOf(object<Server>({ Namespace: text, components: listOf(component) }))],
      }),
      agents: maybe(
        listOf(
          object<PlaneVersions["agents"][number]>({
            cluster: text,
            version: text,
            connected: flag,
            skew: oneOf("supported", "unsupported", "unknown"),
          }),
        ),
      ),
    }),
  },
};
