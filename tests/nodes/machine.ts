import { existsSync, readFileSync } from "node:fs";
import { tried } from "./commands.ts";

const CONTROLLERS = ["cpu", "cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids"];
const LEAST_MEMORY_MIB = 6 * 1024;

/** Why this machine can have no nodes; none: it can. What only cgroup v2 needs has not been tried, so that one is a reason, too. */
export function reasonsAgainstNodes(): readonly string[] {
  if (process.platform !== "linux") return [`it is ${process.platform}: nodes are made of namespaces of Linux`];
  const reasons: string[] = [];
  if (process.getuid?.() !== 0) reasons.push("its user is not root, who alone makes namespaces and mounts");
  const missing = CONTROLLERS.filter((name) => !existsSync(`/sys/fs/cgroup/${name}`));
  if (missing.length > 0) reasons.push(`it has no cgroup v1 of ${missing.join(", ")}; with cgroup v2 nodes have not been tried`);
  if (tried(["unshare", "--mount", "--uts", "--ipc", "--pid", "--cgroup", "--fork", "true"]).code !== 0) {
    reasons.push("unshare makes no namespaces here");
  }
  const available = /^MemAvailable: +(\d+) kB$/m.exec(readFileSync("/proc/meminfo", "utf8"))?.[1];
  if (Number(available) < LEAST_MEMORY_MIB * 1024)
    reasons.push(`it has ${Math.floor(Number(available) / 1024)} MiB to spare of ${LEAST_MEMORY_MIB}`);
  return reasons;
}
