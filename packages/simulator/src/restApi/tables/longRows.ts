import type { Members } from "../../apply/json.ts";
import { ageSince } from "./ages.ts";
import { at, labelsText, listAt, numberAt, textAt } from "./cells.ts";

const age = (object: Members, now: number) => ageSince(at(object, "metadata.creationTimestamp"), now);
const name = (object: Members) => textAt(object, "metadata.name");

/** Source: printers/internalversion/printers.go, printPod. */
export function podCells(object: Members, now: number): readonly unknown[] {
  const statuses = listAt(object, "status.containerStatuses");
  const restarts = statuses.reduce((sum, status) => sum + numberAt(status, "restartCount"), 0);
  const ready = statuses.filter((status) => status["ready"] === true && at(status, "state.running") !== undefined).length;
  const ips = listAt(object, "status.podIPs");
  const gates = listAt(object, "spec.readinessGates");
  return [
    name(object),
    `${ready}/${listAt(object, "spec.containers").length}`,
    podReason(object, statuses),
    String(restarts),
    age(object, now),
    ips.length > 0 ? String(ips[0]?.["ip"]) : textAt(object, "status.podIP", "<none>"),
    textAt(object, "spec.nodeName", "<none>"),
    textAt(object, "status.nominatedNodeName", "<none>"),
    gates.length === 0 ? "<none>" : `0/${gates.length}`,
  ];
}

function podReason(object: Members, statuses: readonly Members[]): string {
  let reason = textAt(object, "status.reason", textAt(object, "status.phase"));
  for (const status of statuses) {
    const waiting = textAt(status, "state.waiting.reason");
    const terminated = textAt(status, "state.terminated.reason");
    if (waiting !== "" || terminated !== "") reason = waiting === "" ? terminated : waiting;
  }
  if (at(object, "metadata.deletionTimestamp") !== undefined) return reason === "Succeeded" || reason === "Failed" ? reason : "Terminating";
  return reason;
}

/** Source: printService. */
export function serviceCells(object: Members, now: number): readonly unknown[] {
  const type = textAt(object, "spec.type");
  const ports = listAt(object, "spec.ports").map((port) => {
    const node = numberAt(port, "nodePort");
    return `${numberAt(port, "port")}${node > 0 ? `:${node}` : ""}/${textAt(port, "protocol")}`;
  });
  return [
    name(object),
    type,
    textAt(object, "spec.clusterIP", "<none>"),
    externalAddress(object, type),
    ports.length === 0 ? "<none>" : ports.join(","),
    age(object, now),
    labelsText(at(object, "spec.selector")),
  ];
}

function externalAddress(object: Members, type: string): string {
  const external = (at(object, "spec.externalIPs") ?? []) as readonly string[];
  if (type === "ExternalName") return textAt(object, "spec.externalName");
  if (type !== "LoadBalancer") return external.length === 0 ? "<none>" : external.join(",");
  const addresses = listAt(object, "status.loadBalancer.ingress").map((each) => String(each["ip"] ?? each["hostname"] ?? ""));
  return [...addresses, ...external].join(",") || "<pending>";
}

/** Source: printNode. */
export function nodeCells(object: Members, now: number): readonly unknown[] {
  const ready = listAt(object, "status.conditions").find(({ type }) => type === "Ready");
  const states = [ready === undefined ? "Unknown" : ready["status"] === "True" ? "Ready" : "NotReady"];
  if (at(object, "spec.unschedulable") === true) states.push("SchedulingDisabled");
  const labels = (at(object, "metadata.labels") ?? {}) as Readonly<Record<string, string>>;
  const roles = Object.keys(labels)
    .filter((label) => label.startsWith("node-role.kubernetes.io/"))
    .map((label) => label.slice("node-role.kubernetes.io/".length))
    .sort();
  const address = (type: string) => {
    const found = listAt(object, "status.addresses").find((each) => each["type"] === type);
    return found === undefined ? "<none>" : String(found["address"]);
  };
  const info = (field: string) => textAt(object, `status.nodeInfo.${field}`, "<unknown>");
  return [
    name(object),
    states.join(","),
    roles.join(",") || "<none>",
    age(object, now),
    textAt(object, "status.nodeInfo.kubeletVersion"),
    address("InternalIP"),
    address("ExternalIP"),
    info("osImage"),
    info("kernelVersion"),
    info("containerRuntimeVersion"),
  ];
}

/** Source: printEvent. */
export function eventCells(object: Members, now: number): readonly unknown[] {
  const first = at(object, "firstTimestamp") ?? at(object, "eventTime");
  const last = at(object, "series.lastObservedTime") ?? at(object, "lastTimestamp") ?? at(object, "eventTime");
  const kind = textAt(object, "involvedObject.kind").toLowerCase();
  const source =
    textAt(object, "source.host") === ""
      ? textAt(object, "source.component")
      : `${textAt(object, "source.component")}, ${textAt(object, "source.host")}`;
  return [
    ageSince(last ?? first, now),
    textAt(object, "type"),
    textAt(object, "reason"),
    `${kind}/${textAt(object, "involvedObject.name")}`,
    textAt(object, "involvedObject.fieldPath"),
    source === "" ? textAt(object, "reportingComponent") : source,
    textAt(object, "message").trim(),
    ageSince(first, now),
    numberAt(object, "series.count") || numberAt(object, "count") || 1,
    name(object),
  ];
}

/** Source: formatEndpoints. */
export function endpointsCells(object: Members, now: number): readonly unknown[] {
  const all = listAt(object, "subsets").flatMap((subset) => {
    const ports = listAt(subset, "ports");
    return listAt(subset, "addresses").flatMap(({ ip }) =>
      ports.length === 0 ? [String(ip)] : ports.map(({ port }) => `${String(ip)}:${String(port)}`),
    );
  });
  return [name(object), some(all, "<none>"), age(object, now)];
}

/** Source: printEndpointSlice. */
export function endpointSliceCells(object: Members, now: number): readonly unknown[] {
  const ports = listAt(object, "ports").map(({ port }) => (port === undefined ? "*" : String(port)));
  const addresses = listAt(object, "endpoints").flatMap(({ addresses: each }) => (Array.isArray(each) ? each.map(String) : []));
  return [name(object), textAt(object, "addressType"), some(ports, "<unset>"), some(addresses, "<unset>"), age(object, now)];
}

function some(all: readonly string[], none: string): string {
  if (all.length === 0) return none;
  return all.length > 3 ? `${all.slice(0, 3).join(",")} + ${all.length - 3} more...` : all.join(",");
}
