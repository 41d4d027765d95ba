import type { CiliumIngressRule } from "@isthmus/api";
import { formatRef, refOf } from "@isthmus/core";
import { type Finding, warningFinding } from "../../../findings.ts";
import type { PodNetwork } from "../../../policy/podNetwork.ts";
import type { DestinationInputs } from "../../inputs.ts";

/** What would be written for a Destination. */
export interface AuditedPolicy {
  readonly name: string;
  /** All ways to be let in. */
  readonly rules: readonly CiliumIngressRule[];
  /** Those of them that the Settings allow. */
  readonly allowed: readonly CiliumIngressRule[];
}

/**
 * What enforcing would do on a Destination, and which callers it would refuse that are known to call, or that nothing refuses now. Who
 * calls is not recorded: pods that ask to be scraped, Services that are open to the outside and pods without a sidecar stand for it.
 */
export function auditFindings({ destination, pods, workloads }: DestinationInputs, policy: AuditedPolicy): readonly Finding[] {
  const { ref, ports = [], serviceType = "" } = destination.spec?.kubeService ?? {};
  const name = formatRef(refOf(destination));
  const selected = pods.filter(({ isOnHost }) => !isOnHost);
  const open = policy.rules.filter(({ fromEntities }) => fromEntities !== undefined);
  const isClosed = !open.some(({ toPorts }) => toPorts === undefined);
  const whom = pods.length === 0 ? "pods that are not known," : `${count(selected.length, "known pod")}${listed(selected)}`;
  const consequence = isClosed
    ? "refuses all callers that neither an AccessPolicy nor allowFrom lets in, but for processes of the same node"
    : "refuses nobody";
  const summary =
    `with cilium.accessPolicies: ENABLED in the Settings, ${name} would get CiliumNetworkPolicy ${ref?.namespace ?? ""}/${policy.name}, which selects ` +
    `${whom} of ${count(workloads.length, "workload")} in the mesh, and ${consequence}`;
  const told = [warningFinding("NetworkLayerAudit", summary)];
  if (!isClosed) return told;
  const bare = selected.filter(({ hasSidecar }) => !hasSidecar);
  const isExposed = EXPOSED.has(serviceType) && !ports.every(({ targetPortNumber = 0 }) => letsIn(open, String(targetPortNumber)));
  return [
    ...told,
    ...scraped(selected, [...open, ...policy.allowed]).map((finding) => cut(name, finding)),
    ...(isExposed
      ? [
          cut(
            name,
            `its Service has type ${TYPES[serviceType] ?? serviceType}: callers from outside of the cluster, and by other nodes, would be refused: write an AccessPolicy without sourceSelector for it, or let them come through a gateway`,
          ),
        ]
      : []),
    ...(bare.length === 0
      ? []
      : [
          cut(
            name,
            `${count(bare.length, "pod")}${listed(bare)} without a sidecar, on which the mesh refuses nobody: callers that no AccessPolicy names would be refused there: inject the sidecar, or add the callers to an AccessPolicy or to cilium.allowFrom of the Settings`,
          ),
        ]),
  ];
}

const TYPES: Readonly<Record<string, string>> = { NODE_PORT: "NodePort", LOAD_BALANCER: "LoadBalancer" };
const EXPOSED: ReadonlySet<string> = new Set(Object.keys(TYPES));

/** Pods that ask to be scraped, by port, where nothing lets in whoever does it. */
function scraped(pods: readonly PodNetwork[], rules: readonly CiliumIngressRule[]): readonly string[] {
  const byPort = new Map<string, PodNetwork[]>();
  for (const pod of pods) {
    const { scrapedPort } = pod;
    if (scrapedPort === undefined || letsIn(rules, scrapedPort)) continue;
    byPort.set(scrapedPort, [...(byPort.get(scrapedPort) ?? []), pod]);
  }
  return [...byPort]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, MOST_NAMES)
    .map(([port, asking]) => {
      const [on, entry] = port === "" ? ["", " and serviceAccount"] : [` on port ${port}`, `, serviceAccount and ports [${port}]`];
      return `${count(asking.length, "pod")}${listed(asking)} with prometheus.io/scrape${on}: a scraper that no AccessPolicy names would be refused: add its namespace${entry} to cilium.allowFrom of the Settings`;
    });
}

/** Whether one of the rules lets its callers, whoever they are, reach a port; "" for all ports. */
function letsIn(rules: readonly CiliumIngressRule[], port: string): boolean {
  return rules.some(({ toPorts }) => toPorts === undefined || toPorts.some(({ ports = [] }) => ports.some((one) => one.port === port)));
}

function cut(name: string, what: string): Finding {
  return warningFinding("NetworkLayerCuts", `${name}: ${what}`);
}

/** More names would only make the message longer. */
const MOST_NAMES = 3;

function listed(pods: readonly PodNetwork[]): string {
  if (pods.length === 0) return "";
  const names = pods.map(({ name }) => name).sort();
  const more = names.length - MOST_NAMES;
  return ` (${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""})`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
