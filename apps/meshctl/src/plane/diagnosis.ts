import type { KubernetesCluster } from "@isthmus/api";
import type { Cluster } from "@isthmus/ports";
import type { ExitCode, Io } from "../io.ts";
import { wrapped } from "../output/fit.ts";
import { plainText } from "../output/plainText.ts";
import { type DataFormat, dataText } from "./dataText.ts";
import { registeredCluster } from "./describe/printCluster.ts";

/** A step on the way from registration to a cluster that has all that is desired. The first that fails is the one to mend. */
interface Gate {
  readonly name: string;
  /** Why it is not passed, and what to do about it; undefined when it is passed. */
  readonly fault: (cluster: KubernetesCluster, now: number) => Fault | undefined;
}

interface Fault {
  readonly cause: string;
  readonly next: string;
}

const GATES: readonly Gate[] = [
  {
    name: "the server has processed its registration",
    fault: ({ status }) =>
      status?.state === undefined
        ? { cause: "the KubernetesCluster has no status: no management server runs, or none leads", next: "meshctl check" }
        : undefined,
  },
  {
    name: "its certificates are not revoked",
    fault: (cluster) =>
      cluster.status?.state === "REVOKED"
        ? { cause: conditionText(cluster, "Connected"), next: `meshctl cluster token create --cluster ${cluster.metadata.name}` }
        : undefined,
  },
  {
    name: "an agent has registered under its name",
    fault: (cluster) =>
      cluster.status?.state === "REGISTERED"
        ? {
            cause: "no agent has connected yet: it is not installed, does not reach the relay address, or has no token",
            next: `meshctl precheck --context CONTEXT, then meshctl logs --agent --context CONTEXT, with the context of ${cluster.metadata.name}`,
          }
        : undefined,
  },
  {
    name: "its API server can be reached, where the server connects to it",
    fault: (cluster) =>
      cluster.status?.state === "UNREACHABLE"
        ? {
            cause: conditionText(cluster, "Connected"),
            next: `kubectl -n ${cluster.metadata.namespace} get secret ${cluster.spec?.secretName ?? cluster.metadata.name}`,
          }
        : undefined,
  },
  {
    name: "the certificate of its agent is valid",
    fault: ({ metadata: { name }, status }, now) => {
      const { certificateNotAfter = "" } = status?.agent ?? {};
      return Date.parse(certificateNotAfter) < now
        ? { cause: `it expired at ${certificateNotAfter}`, next: `meshctl cluster token create --cluster ${name}` }
        : undefined;
    },
  },
  {
    name: "its agent is connected",
    fault: (cluster) =>
      cluster.status?.agent?.connected === false || cluster.status?.state === "OFFLINE"
        ? {
            cause: conditionText(cluster, "Connected"),
            next: `meshctl logs --agent --context CONTEXT, with the context of ${cluster.metadata.name}`,
          }
        : undefined,
  },
  {
    name: "the complete state of the cluster is known",
    fault: (cluster) =>
      isCondition(cluster, "Synced", "True")
        ? undefined
        : {
            cause: conditionText(cluster, "Synced"),
            next: `meshctl logs --agent --context CONTEXT, with the context of ${cluster.metadata.name}`,
          },
  },
  {
    name: "all objects that its agent reports are accepted",
    fault: (cluster) =>
      isCondition(cluster, "OverQuota", "True")
        ? { cause: conditionText(cluster, "OverQuota"), next: `kubectl -n ${cluster.metadata.namespace} edit settings settings` }
        : undefined,
  },
  {
    name: "its agent acknowledges what is desired",
    fault: (cluster) =>
      isCondition(cluster, "Lagging", "True") ? { cause: conditionText(cluster, "Lagging"), next: "meshctl sync status" } : undefined,
  },
  {
    name: "no deletes are on hold",
    fault: (cluster) =>
      isCondition(cluster, "DeletesPaused", "True")
        ? { cause: conditionText(cluster, "DeletesPaused"), next: `meshctl explain delete --cluster ${cluster.metadata.name}` }
        : undefined,
  },
];

function conditionText({ status }: KubernetesCluster, type: string): string {
  return status?.conditions?.find((condition) => condition.type === type)?.message ?? `the condition ${type} is missing`;
}

function isCondition({ status }: KubernetesCluster, type: string, value: string): boolean {
  return status?.conditions?.some((condition) => condition.type === type && condition.status === value) === true;
}

interface Diagnosing {
  readonly io: Io;
  readonly cluster: Cluster;
  readonly name: string;
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly format: "text" | DataFormat;
}

/** Prints the gates that a cluster has passed and, at the first one that it has not, why, and the next command. 1 when there is one. */
export async function printDiagnosis({ io, cluster, name, namespace, now, format }: Diagnosing, signal: AbortSignal): Promise<ExitCode> {
  const found = await registeredCluster({ cluster, name, namespace }, signal);
  const steps = stepsOf(found, now);
  const state = found.status?.state ?? "";
  const lines = (): string => steps.flatMap((step) => stepLines(step, io.columns).map((line) => `${line}\n`)).join("");
  await io.out(format === "text" ? lines() : dataText({ cluster: name, state, steps }, format));
  if (!steps.every(({ passed }) => passed)) return 1;
  io.note(`cluster ${name} is ${plainText(state)}, and nothing stops it\n`);
  return 0;
}

type Step = { readonly step: string; readonly passed: true } | ({ readonly step: string; readonly passed: false } & Fault);

/** The steps that are passed, and the first one that is not: what comes after it is not known. */
function stepsOf(found: KubernetesCluster, now: number): readonly Step[] {
  const steps: Step[] = [];
  for (const { name: step, fault: faultOf } of GATES) {
    const fault = faultOf(found, now);
    steps.push(fault === undefined ? { step, passed: true } : { step, passed: false, ...fault });
    if (fault !== undefined) break;
  }
  return steps;
}

function stepLines(step: Step, columns: number | undefined): readonly string[] {
  if (step.passed) return [`✅ ${step.step}`];
  return [
    `❌ ${step.step}`,
    ...indentedText(`cause: ${plainText(step.cause)}`, columns),
    ...indentedText(`next: ${plainText(step.next)}`, columns),
  ];
}

function indentedText(text: string, columns = Number.MAX_SAFE_INTEGER): readonly string[] {
  return wrapped(text, Math.max(20, columns - 4)).map((line, i) => `${i === 0 ? "  " : "    "}${line}`);
}
