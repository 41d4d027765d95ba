import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type CommandResult, run, tried, until } from "./commands.ts";
import { CLUSTERS, type ClusterName, LAN, type NodePlan, PREFIX, planOf, ROUTER } from "./names.ts";
import { attachToLan, makeLan, removeNetns } from "./network.ts";
import { makePki } from "./pki.ts";
import { type Built, writePrograms } from "./programs.ts";
import { systemObjects } from "./systemObjects.ts";

/** The clusters of this machine: there is one set of them. */
export interface Nodes {
  readonly built: Built;
  /** The folder of their state; gone when they are. */
  readonly state: string;
  /** A kubeconfig with a context for each, for programs on their network. */
  readonly kubeconfig: string;
}

const CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "systemd"];

/** Folders of the machine over which each node mounts its own. */
const MOUNT_POINTS = [
  "/var/lib/kubelet",
  "/var/lib/containerd",
  "/var/lib/cni",
  "/var/log/pods",
  "/var/log/containers",
  "/etc/cni",
  "/opt",
];

/** The nodes that programs of `built` make, with their state in a folder. */
export function nodesIn(state: string, built: Built): Nodes {
  return { built, state, kubeconfig: join(state, "kubeconfig") };
}

/** Starts clusters and waits until each has a ready node and DNS; one that runs stays as it is. `say` is given each step with its seconds. */
export async function up(nodes: Nodes, names: readonly ClusterName[], say: (text: string) => void): Promise<void> {
  const begin = Date.now();
  const after = () => `after ${((Date.now() - begin) / 1_000).toFixed(1)} s`;
  makeLan();
  const plans = names.map((name) => planOf(name, nodes.state));
  for (const plan of plans) if (pidOf(plan) === undefined) await launch(plan, nodes.built);
  writeFileSync(nodes.kubeconfig, JSON.stringify(mergedKubeconfig(nodes)), { mode: 0o600 });
  for (const plan of plans) {
    await until(`${plan.name}: containerd`, 60, () => tried(inNode(plan, ["ctr", "version"])).code === 0);
    load(plan, join(nodes.built.folder, "images/node.tar"));
  }
  for (const plan of plans) {
    await until(`${plan.name}: API server`, 120, () => kubectl(nodes, plan.name, ["get", "--raw", "/readyz"]).code === 0);
    run(onLan(nodes, ["kubectl", "--context", plan.name, "apply", "-f", "-"]), {
      input: JSON.stringify(systemObjects(plan)),
      env: pathOf(nodes),
    });
  }
  for (const plan of plans) {
    const ready = ["wait", "--for=condition=Ready", `node/${plan.name}`, "--timeout=0"];
    await until(`${plan.name}: node`, 120, () => kubectl(nodes, plan.name, ready).code === 0);
    const available = ["-n", "kube-system", "rollout", "status", "deployment/coredns", "--timeout=1s"];
    await until(`${plan.name}: DNS`, 120, () => kubectl(nodes, plan.name, available).code === 0);
    say(`${plan.name}: ready ${after()}`);
  }
}

/** Ends the clusters and removes all that is theirs. Does nothing where there are none. */
export async function down(nodes: Nodes): Promise<void> {
  for (const name of CLUSTERS) {
    const plan = planOf(name, nodes.state);
    const pid = pidOf(plan);
    // The first process of a PID namespace: all others end with it.
    if (pid !== undefined) process.kill(pid, "SIGKILL");
    await until(`${name}: its processes end`, 20, () => pidOf(plan) === undefined);
    await until(`${name}: its network`, 20, () => removeNetns(plan.netns));
    for (const controller of CONTROLLERS) {
      const group = `/sys/fs/cgroup/${controller}/${PREFIX}/${name}`;
      await until(`${name}: control groups of ${controller}`, 20, () => removeGroups(group));
    }
  }
  for (const controller of CONTROLLERS) removeGroups(`/sys/fs/cgroup/${controller}/${PREFIX}`);
  removeNetns(LAN);
  const made = join(nodes.state, "made");
  for (const folder of existsSync(made) ? readFileSync(made, "utf8").split("\n").reverse() : []) removeIfEmpty(folder);
  rmSync(nodes.state, { recursive: true, force: true });
}

function removeGroups(folder: string): boolean {
  if (!existsSync(folder)) return true;
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    removeGroups(join(folder, name));
  // Not while its processes are ending.
  removeIfEmpty(folder);
  return !existsSync(folder);
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // Somebody else's by now.
  }
}

/** Makes the folders that are missing, and notes them, so that `down` removes them. */
function makeMountPoints(state: string): void {
  for (const folder of MOUNT_POINTS) {
    if (existsSync(folder)) continue;
    mkdirSync(folder, { recursive: true });
    appendFileSync(join(state, "made"), `${folder}\n`);
  }
}

/** The first process of a node that runs. */
export function pidOf({ state }: NodePlan): number | undefined {
  try {
    const pid = Number(readFileSync(join(state, "pid"), "utf8"));
    // Somebody else's process may have the number by now.
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0").includes(state) ? pid : undefined;
  } catch {
    return undefined;
  }
}

async function launch(plan: NodePlan, built: Built): Promise<void> {
  mkdirSync(plan.log, { recursive: true });
  makeMountPoints(join(plan.state, ".."));
  makePki(plan);
  writePrograms(plan, built);
  attachToLan(plan);
  const groups = CONTROLLERS.map((controller) => controlGroup(controller, plan.name));
  const inside = ["bash", join(built.project, "tests/nodes/node.sh"), plan.state, plan.name, plan.address, ROUTER];
  const namespaces = "--mount --uts --ipc --pid --cgroup --fork --mount-proc --kill-child".split(" ");
  // First into the control groups, then into namespaces: these show the node its own groups as the root.
  const script = `${groups.map((group) => `echo 0 >${group}/cgroup.procs`).join("\n")}\nexec "$@"`;
  const log = openSync(join(plan.log, "node.log"), "a");
  const child = spawn("sh", ["-c", script, "sh", "nsenter", `--net=/run/netns/${plan.netns}`, "unshare", ...namespaces, ...inside], {
    detached: true,
    stdio: ["ignore", log, log],
  });
  child.unref();
  await until(`${plan.name}: its first process`, 20, () => {
    const found = tried(["pgrep", "-P", String(child.pid)])
      .stdout.trim()
      .split("\n")[0];
    if (found) writeFileSync(join(plan.state, "pid"), found);
    return Boolean(found);
  });
}

function controlGroup(controller: string, name: string): string {
  const top = `/sys/fs/cgroup/${controller}/${PREFIX}`;
  const group = join(top, name);
  mkdirSync(group, { recursive: true });
  if (controller === "cpuset") {
    for (const file of ["cpuset.cpus", "cpuset.mems"]) {
      const value = readFileSync(`/sys/fs/cgroup/cpuset/${file}`, "utf8");
      for (const one of [top, group]) writeFileSync(join(one, file), value);
    }
  }
  return group;
}

/** A command in the namespaces of a node. Throws Error where the node does not run. */
export function inNode(plan: NodePlan, command: readonly string[]): readonly string[] {
  const pid = pidOf(plan);
  if (pid === undefined) throw new Error(`${plan.name} is not up: npm run nodes -- up`);
  return ["nsenter", "--target", String(pid), ..."--net --mount --pid --uts --ipc --cgroup".split(" "), ...command];
}

/** A command on the network of the nodes, with their kubeconfig and programs of the same versions. */
export function onLan({ kubeconfig }: Nodes, command: readonly string[]): readonly string[] {
  return ["nsenter", `--net=/run/netns/${LAN}`, "env", `KUBECONFIG=${kubeconfig}`, ...command];
}

/** The environment in which `onLan` finds kubectl, Helm and meshctl. */
export function pathOf({ built, state }: Nodes): NodeJS.ProcessEnv {
  return { ...process.env, PATH: `${join(built.folder, "bin")}:${process.env["PATH"]}`, HOME: join(state, "home") };
}

/** kubectl in the context of a cluster. */
export function kubectl(nodes: Nodes, name: ClusterName, args: readonly string[], input?: string): CommandResult {
  return tried(onLan(nodes, ["kubectl", "--context", name, ...args]), { env: pathOf(nodes), ...(input === undefined ? {} : { input }) });
}

/** Gives a node the images of a docker archive. */
export function load(plan: NodePlan, archive: string): void {
  run(inNode(plan, ["ctr", "-n", "k8s.io", "images", "import", archive]));
}

interface Kubeconfig {
  readonly clusters: readonly object[];
  readonly users: readonly object[];
  readonly contexts: readonly object[];
}

function mergedKubeconfig({ state }: Nodes): object {
  const all = CLUSTERS.map((name) => planOf(name, state).kubeconfig).filter((path) => existsSync(path));
  const configs = all.map((path) => JSON.parse(readFileSync(path, "utf8")) as Kubeconfig);
  const part = (name: keyof Kubeconfig) => configs.flatMap((one) => one[name]);
  return { apiVersion: "v1", kind: "Config", clusters: part("clusters"), users: part("users"), contexts: part("contexts") };
}
