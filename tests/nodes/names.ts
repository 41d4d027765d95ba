import { join } from "node:path";

/** The clusters, in the order of their addresses. */
export const CLUSTERS = ["mgmt", "east", "west"] as const;
export type ClusterName = (typeof CLUSTERS)[number];

/** What the namespaces and control groups of the nodes are called, before the name of a cluster. */
export const PREFIX = "isthmus";
/** The network namespace that joins the nodes. */
export const LAN = `${PREFIX}-lan`;
/** The address of the bridge between the nodes. */
export const ROUTER = "10.90.0.1";

/** A cluster of one node: its addresses, and where what is its own is kept. */
export interface NodePlan {
  readonly name: ClusterName;
  /** Of the node, on the network of the nodes. */
  readonly address: string;
  /** Of its pods, as a CIDR. */
  readonly pods: string;
  /** Of its Services, as a CIDR. */
  readonly services: string;
  /** The Service `kubernetes`. */
  readonly apiServer: string;
  /** The DNS of the cluster. */
  readonly dns: string;
  /** The first three numbers of the addresses of its load balancers. */
  readonly balancers: string;
  readonly netns: string;
  /** Absolute folders. */
  readonly state: string;
  readonly pki: string;
  readonly log: string;
  /** An administrator's kubeconfig. */
  readonly kubeconfig: string;
}

/** What a node is to be, with its state in a folder below `folder`. */
export function planOf(name: ClusterName, folder: string): NodePlan {
  const number = CLUSTERS.indexOf(name) + 1;
  const state = join(folder, name);
  return {
    name,
    address: `10.90.0.${10 + number}`,
    pods: `10.${90 + number}.0.0/16`,
    services: `10.${100 + number}.0.0/16`,
    apiServer: `10.${100 + number}.0.1`,
    dns: `10.${100 + number}.0.10`,
    balancers: `10.90.${10 + number}`,
    netns: `${PREFIX}-${name}`,
    state,
    pki: join(state, "pki"),
    log: join(state, "log"),
    kubeconfig: join(state, "admin.kubeconfig"),
  };
}

/** The name of a cluster; throws Error where there is none of that name. */
export function clusterNamed(text: string | undefined): ClusterName {
  const found = CLUSTERS.find((name) => name === text);
  if (found === undefined) throw new Error(`${text ?? "nothing"} is no node: ${CLUSTERS.join(", ")}`);
  return found;
}
