import { ClusterError } from "@isthmus/ports";
import { type Allocator, addressAt, allocator } from "./allocation.ts";
import { isMembers, type Members, membersAt, withMember } from "./apply/json.ts";
import type { Content } from "./object.ts";

/** What an API server fills in where a writer said nothing. Source: the defaults.go files under pkg/apis of Kubernetes 1.34. */
export interface Defaults {
  /** `before` is the object as it stands, of which allocated addresses are kept. */
  complete(kindKey: string, content: Content, before: Content | undefined): Content;
  /** Gives back what a removed object held. */
  release(kindKey: string, content: Content): void;
}

/** The defaults of one cluster, with its own address and port ranges. */
export function clusterDefaults(): Defaults {
  // The ranges of kubeadm and kube-apiserver: 10.96.0.0/12 without its first addresses, and 30000–32767.
  const addresses = allocator(2 ** 20 - 20, (position) => addressAt("10.96.0.10", position));
  const nodePorts = allocator(2768, (position) => 30_000 + position);
  return {
    complete(kindKey, content, before) {
      switch (kindKey) {
        case "/Service":
          return service(content, before, { addresses, nodePorts });
        case "/Pod":
          return withStatus(withPodSpec(content, "spec"), { phase: "Pending" });
        case "/Namespace":
          return withStatus(content, { phase: "Active" });
        case "apps/Deployment":
        case "apps/ReplicaSet":
        case "apps/StatefulSet":
          return withSpec(withTemplate(content), { replicas: 1 });
        case "apps/DaemonSet":
          return withTemplate(content);
        default:
          return content;
      }
    },
    release(kindKey, content) {
      if (kindKey !== "/Service") return;
      const spec = membersAt(content, "spec");
      if (typeof spec["clusterIP"] === "string") addresses.release(spec["clusterIP"]);
      for (const port of portsOf(spec)) if (typeof port["nodePort"] === "number") nodePorts.release(port["nodePort"]);
    },
  };
}

interface Ranges {
  readonly addresses: Allocator<string>;
  readonly nodePorts: Allocator<number>;
}

function service(content: Content, before: Content | undefined, ranges: Ranges): Content {
  const spec = membersAt(content, "spec");
  const old = before === undefined ? {} : membersAt(before, "spec");
  const type = spec["type"] ?? "ClusterIP";
  const isExternalName = type === "ExternalName";
  const hasNodePorts = type === "NodePort" || type === "LoadBalancer";
  const ports = portsOf(spec).map((port) => {
    const completed = { protocol: "TCP", ...port, targetPort: port["targetPort"] ?? port["port"] };
    return hasNodePorts ? { ...completed, nodePort: nodePort(completed, portsOf(old), ranges.nodePorts) } : completed;
  });
  const address = isExternalName ? undefined : clusterAddress(spec, old, ranges.addresses);
  const completed: Members = {
    ...spec,
    type,
    sessionAffinity: spec["sessionAffinity"] ?? "None",
    ...(ports.length === 0 ? {} : { ports }),
    ...(hasNodePorts ? { externalTrafficPolicy: spec["externalTrafficPolicy"] ?? "Cluster" } : {}),
    ...(type === "LoadBalancer" ? { allocateLoadBalancerNodePorts: spec["allocateLoadBalancerNodePorts"] ?? true } : {}),
    ...(address === undefined ? {} : { clusterIP: address, clusterIPs: [address], ...DUAL_STACK, internalTrafficPolicy: "Cluster" }),
  };
  return withStatus({ ...content, spec: { ...completed, ...definedIn(spec, Object.keys(DUAL_STACK)) } }, { loadBalancer: {} });
}

const DUAL_STACK = { ipFamilies: ["IPv4"], ipFamilyPolicy: "SingleStack" };

function definedIn(spec: Members, fields: readonly string[]): Members {
  return Object.fromEntries(fields.filter((field) => spec[field] !== undefined).map((field) => [field, spec[field]]));
}

function clusterAddress(spec: Members, old: Members, addresses: Allocator<string>): string | undefined {
  const held = old["clusterIP"];
  const wanted = typeof spec["clusterIP"] === "string" && spec["clusterIP"] !== "" ? spec["clusterIP"] : undefined;
  if (typeof held === "string" && held !== "" && (wanted === undefined || wanted === held)) return held;
  if (wanted === "None") return wanted;
  const address = addresses.take(wanted);
  if (address === undefined) {
    throw new ClusterError("Invalid", `spec.clusterIP: ${wanted ?? "an address"} is not free`, { fields: ["spec.clusterIP"] });
  }
  return address;
}

function nodePort(port: Members, old: readonly Members[], nodePorts: Allocator<number>): unknown {
  const held = old.find((other) => other["port"] === port["port"] && other["protocol"] === port["protocol"])?.["nodePort"];
  const wanted = port["nodePort"];
  if (held !== undefined && (wanted === undefined || wanted === held)) return held;
  const taken = nodePorts.take(typeof wanted === "number" ? wanted : undefined);
  if (taken === undefined) {
    throw new ClusterError("Invalid", `spec.ports: node port ${String(wanted ?? "")} is not free`, { fields: ["spec.ports"] });
  }
  return taken;
}

function portsOf(spec: Members): readonly Members[] {
  return Array.isArray(spec["ports"]) ? spec["ports"].filter(isMembers) : [];
}

function withSpec(content: Content, defaults: Members): Content {
  const spec = membersAt(content, "spec");
  const missing = Object.keys(defaults).some((field) => spec[field] === undefined);
  return missing ? { ...content, spec: { ...defaults, ...spec } } : content;
}

function withStatus(content: Content, status: Members): Content {
  return content["status"] === undefined ? { ...content, status } : content;
}

function withTemplate(content: Content): Content {
  const spec = membersAt(content, "spec");
  const template = membersAt(spec, "template");
  const completed = withPodSpec(template, "spec");
  return completed === template ? content : { ...content, spec: { ...spec, template: completed } };
}

/** `holder` with `field`, a pod spec, completed: ports of containers are TCP unless they say otherwise. */
function withPodSpec<M extends Members>(holder: M, field: string): M {
  const spec = membersAt(holder, field);
  const containers = spec["containers"];
  if (!Array.isArray(containers)) return holder;
  const completed = containers.map(withProtocols);
  return completed.some((container, i) => container !== containers[i])
    ? withMember(holder, field, { ...spec, containers: completed })
    : holder;
}

function withProtocols(container: unknown): unknown {
  if (!isMembers(container) || !Array.isArray(container["ports"])) return container;
  const ports: unknown[] = container["ports"];
  if (ports.every((port) => isMembers(port) && port["protocol"] !== undefined)) return container;
  return { ...container, ports: ports.map((port) => (isMembers(port) ? { protocol: "TCP", ...port } : port)) };
}
