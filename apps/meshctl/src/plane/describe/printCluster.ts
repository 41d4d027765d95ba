import type { KubernetesCluster } from "@isthmus/api";
import { nearestName, UsageError } from "@isthmus/core";
import { type Cluster, ClusterError } from "@isthmus/ports";
import type { Io } from "../../io.ts";
import { ageText } from "../../output/age.ts";
import { columnsText } from "../../output/columns.ts";
import { wrapped } from "../../output/fit.ts";
import { plainText } from "../../output/plainText.ts";
import { clusterModeOf, countsText, exampleLines } from "../comparisonText.ts";
import { type DataFormat, dataText } from "../dataText.ts";
import { type KindName, kindsNamed } from "../kinds.ts";
import { selectedObjects } from "../selectedObjects.ts";
import { fieldLines } from "./cells.ts";

interface Describing {
  readonly io: Io;
  readonly cluster: Cluster;
  readonly name: string;
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly format: "text" | DataFormat;
}

/** Prints what is known of a registered cluster. Throws UsageError when there is none of that name. */
export async function printCluster(describing: Describing, signal: AbortSignal): Promise<void> {
  const { io, cluster, name, now, format } = describing;
  const found = await registeredCluster(describing, signal);
  const { columns = WIDEST } = io;
  const counts = await Promise.all(DISCOVERED.map(async (kind) => [kind, await countOf(cluster, kind, name, signal)] as const));
  if (format !== "text") return io.out(dataText({ cluster: withoutManagers(found), discovered: Object.fromEntries(counts) }, format));
  const { metadata, spec = {}, status = {} } = found;
  const { agent = {}, conditions = [], warnings = [] } = status;
  const mode = clusterModeOf(found);
  const overview = fieldLines({
    Name: metadata.name,
    Namespace: metadata.namespace,
    State: status.state ?? "REGISTERED",
    Age: since(metadata.creationTimestamp, now),
    "Cluster Domain": spec.clusterDomain ?? "cluster.local",
    Mode: modeText(mode),
    "Would Be Written": mode.mode === "manage" ? undefined : countsText(mode),
    "Kubeconfig Secret": spec.secretName,
    "Cluster UID": status.clusterUid,
    Agent: agent.version,
    "Agent Namespace": status.namespace,
    "Agent Certificate": agent.certificateNotAfter === undefined ? undefined : `valid until ${agent.certificateNotAfter}`,
    Cilium: ciliumText(status.cilium),
    ...Object.fromEntries(counts),
    "Istio APIs": Object.entries(status.servedVersions ?? {})
      .filter(([group]) => group.endsWith("istio.io"))
      .map(([group, versions]) => `${group}/${versions.join("|")}`),
  });
  const lines = overview.flatMap((line) => {
    const own = wrapped(plainText(line), columns);
    return line.startsWith("Would Be Written:") ? [...own, ...exampleLines(mode, columns)] : own;
  });
  const listed = warnings.flatMap((warning) => wrapped(`Warning: ${plainText(warning)}`, columns));
  await io.out(`${[...lines, ...listed].join("\n")}\n\n${conditionsText(conditions, { now, columns })}`);
}

function ciliumText(cilium: NonNullable<KubernetesCluster["status"]>["cilium"]): string | undefined {
  if (cilium === undefined) return undefined;
  const { version = "", clusterName = "", enforcement = "", clusterMesh = false } = cilium;
  return `${version}, as ${clusterName}${clusterMesh ? " in a Cluster Mesh" : ""}, policies: ${enforcement}`;
}

/** Without the API server's record of who wrote what. */
function withoutManagers({ metadata: { managedFields: _, ...metadata }, ...found }: KubernetesCluster): unknown {
  return { ...found, metadata };
}

function modeText({ mode, acknowledged }: ReturnType<typeof clusterModeOf>): string {
  return acknowledged === undefined ? mode : `${mode} (not acknowledged yet: the agent is in mode ${acknowledged})`;
}

// Where nothing says how wide the terminal is, a message stays on its line.
const WIDEST = Number.MAX_SAFE_INTEGER;
const DISCOVERED = ["Mesh", "Workload", "Destination"] as const satisfies readonly KindName[];

/** The KubernetesCluster of a name. Throws UsageError with the nearest name when there is none. */
export async function registeredCluster(
  { cluster, name, namespace }: Pick<Describing, "cluster" | "name" | "namespace">,
  signal: AbortSignal,
): Promise<KubernetesCluster> {
  const { KubernetesCluster } = await import("@isthmus/api");
  const found = await cluster.get(KubernetesCluster, { name, namespace }, signal);
  if (found !== undefined) return found;
  const { items } = await cluster.list(KubernetesCluster, { namespace }, signal);
  const nearest = nearestName(
    name,
    items.map(({ metadata }) => metadata.name),
  );
  throw new UsageError(
    `cluster ${name} is not registered: KubernetesCluster ${namespace}/${name} not found${nearest === undefined ? "" : `: did you mean ${nearest}?`}`,
  );
}

/** How many objects were discovered in a cluster; unknown to a user who may not list them. */
async function countOf(cluster: Cluster, name: KindName, clusterName: string, signal: AbortSignal): Promise<string> {
  const [kind] = await kindsNamed([name]);
  if (kind === undefined) return "";
  try {
    return String((await selectedObjects(cluster, kind, { cluster: clusterName }, signal)).items.length);
  } catch (error) {
    if (error instanceof ClusterError) return `unknown (${plainText(error.message, 200)})`;
    throw error;
  }
}

type Conditions = NonNullable<NonNullable<KubernetesCluster["status"]>["conditions"]>;

function conditionsText(conditions: Conditions, { now, columns }: { readonly now: number; readonly columns: number }): string {
  if (conditions.length === 0) return "No conditions: the management server has not processed this cluster yet.\n";
  const rows = conditions.map(({ type = "", status = "", reason = "", lastTransitionTime = "" }) => [
    type,
    status,
    ageText(lastTransitionTime, now) ?? "",
    reason,
  ]);
  const table = columnsText(["CONDITION", "STATUS", "SINCE", "REASON"], rows, { width: columns });
  // Messages are sentences: below the row that they belong to, so that they can be read at any width.
  const [head = "", ...lines] = table.trimEnd().split("\n");
  const body = lines.flatMap((line, i) => [
    line,
    ...wrapped(plainText(conditions[i]?.message ?? ""), Math.max(20, columns - INDENT.length)).map((part) => `${INDENT}${part}`),
  ]);
  return `${[head, ...body].join("\n")}\n`;
}

const INDENT = "  ";

function since(moment: string | undefined, now: number): string | undefined {
  return moment === undefined ? undefined : ageText(moment, now);
}
