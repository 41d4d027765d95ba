import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { formatRef, type Resource } from "@isthmus/core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse } from "yaml";
import { glob } from "../../conformance/deliberate.ts";
import { foundIn } from "../../insights/found.ts";
import { agentView } from "../dataplane/harness/discovered.ts";
import { clusterOf } from "../harness/clusters.ts";
import { describeReal } from "../harness/describeReal.ts";
import { type Fleet, startFleet } from "../harness/fleet.ts";
import { namespace } from "../harness/istioInstallation.ts";
import { applyAll, objectsIn } from "../harness/manifests.ts";
import { fillIstioCluster } from "../harness/meshCluster.ts";
import { waitFor } from "../harness/waitFor.ts";

/** A message of Istio's own analysis, and what we say of the same. */
interface Counterpart {
  readonly code: string;
  /** Objects of the message, as Istio writes them; `*` stands for any text. */
  readonly of: string;
  /** Our code for the same object, or for the one that `on` names, where there is one. */
  readonly ours?: string;
  readonly on?: string;
  /** Why there is none. */
  readonly reason?: string;
}

interface Message {
  readonly code: string;
  readonly origin: string;
  readonly message: string;
}

const read = (name: string) => readFileSync(new URL(name, import.meta.url), "utf8");
const counterparts = parse(read("counterparts.yaml")) as readonly Counterpart[];
const execute = promisify(execFile);

test("each counterpart is a code of ours, or has a reason", () => {
  for (const { ours, reason } of counterparts) expect([ours, reason].filter((member) => member !== undefined)).toHaveLength(1);
});

describeReal("Istio's own analysis", (components) => {
  let fleet: Fleet<"one">;
  let messages: readonly Message[] = [];
  let ours: readonly string[] = [];
  const stop = new AbortController();
  let controllers: Promise<void> | undefined;

  beforeAll(async () => {
    fleet = await startFleet(components, ["one"], { crds: "istio" });
    const server = fleet.servers.one;
    const cluster = clusterOf(server, "one");
    const objects = objectsIn(read("objects.yaml"));
    controllers = (await fillIstioCluster(cluster, components, stop.signal)).ended;
    await applyAll(cluster, objects);
    const view = () => agentView("one", server.kubeconfig);
    await waitFor("pods to run", async () => {
      const all = await view();
      const pods = all.filter(({ kind }) => kind === "Pod").map(({ metadata }) => metadata.namespace);
      const slices = all.filter(({ kind, metadata }) => kind === "EndpointSlice" && metadata.namespace === "bookinfo");
      return pods.includes("late") && pods.filter((place) => place === "shop").length === 2 && slices.length >= 4;
    });
    await applyAll(cluster, [namespace("late", { injection: true })]);
    const home = join(fleet.directory, "istioctl");
    const args = ["analyze", "--kubeconfig", server.kubeconfig, "-A", "-o", "json", "--failure-threshold", "Error"];
    // With a finding that is an error it exits with 79.
    const { stdout } = await execute(components.istioctl, args, { env: { HOME: home, PATH: process.env["PATH"] ?? "" } }).catch(
      (error: { readonly stdout: string }) => error,
    );
    messages = JSON.parse(stdout) as readonly Message[];
    const found = foundIn({ resources: (await view()) as readonly unknown[] as readonly Resource[] });
    ours = found.map(({ insight: { code, object } }) => `${code} ${formatRef({ ...object, clusterName: "" })}`);
  });
  afterAll(async () => {
    stop.abort(new Error("the test is over"));
    await controllers;
    await fleet?.stop();
  });

  test("each of its messages has its counterpart", () => {
    const known = counterparts.map((entry) => ({ entry, of: glob(entry.of) }));
    const used = new Set<Counterpart>();
    const unknown = messages.flatMap(({ code, origin, message }) => {
      const [match] = known.filter(({ entry, of }) => entry.code === code && of.test(origin));
      if (match === undefined) return [`${code} ${origin}: ${message}`];
      used.add(match.entry);
      return [];
    });
    expect(unknown).toEqual([]);
    expect(counterparts.filter((entry) => !used.has(entry)).map(({ code, of }) => `${code} ${of}`)).toEqual([]);
  });

  test("what has a code of ours is found on the same object", () => {
    const wanted = counterparts.flatMap(({ ours: code, on, of }) => (code === undefined ? [] : [`${code} ${on ?? of}`]));
    expect(wanted.filter((line) => !ours.includes(line))).toEqual([]);
  });
});
