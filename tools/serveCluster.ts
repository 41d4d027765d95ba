import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { simulatedCluster, startControllers } from "@isthmus/simulator";
import { serveCluster } from "@isthmus/simulator/restApi";
import { printsUsage } from "./generatorUsage.ts";

const clock = {
  now: () => Date.now(),
  sleep: (ms: number, signal?: AbortSignal) => sleep(ms, undefined, signal === undefined ? {} : { signal }),
};

/**
 * `npm run simulator -- [--kubeconfig FILE] [--controllers]`: serves one simulated cluster on loopback until it is interrupted. Bare, as a kube-apiserver alone is;
 * with `--controllers` pods run, and what is orphaned is collected. The kubeconfig is removed at the end.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { kubeconfig: { type: "string", default: ".isthmus/kubeconfig" }, controllers: { type: "boolean", default: false } },
  });
  const stop = new AbortController();
  const cluster = simulatedCluster({ name: "", clock });
  const server = await serveCluster({ cluster, collects: values.controllers });
  const log = { debug: () => undefined, info: () => undefined, warn: console.error, error: console.error };
  const controllers = values.controllers ? startControllers(cluster, { clock, log }, stop.signal) : undefined;
  const name = "simulated";
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": name,
    clusters: [{ name, cluster: { server: server.url, "certificate-authority-data": Buffer.from(server.ca).toString("base64") } }],
    users: [{ name, user: { token: server.token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  };
  mkdirSync(dirname(values.kubeconfig), { recursive: true, mode: 0o700 });
  rmSync(values.kubeconfig, { force: true });
  writeFileSync(values.kubeconfig, JSON.stringify(content), { mode: 0o600 });
  console.log(`${server.url}: export KUBECONFIG=${values.kubeconfig}`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, resolve);
  });
  rmSync(values.kubeconfig, { force: true });
  stop.abort();
  await Promise.all([controllers, server.close()]);
}

if (!printsUsage("simulator", " [-- --kubeconfig FILE] [--controllers]")) await main();
