import { allKinds, TrafficPolicy } from "@isthmus/api";
import { type AnyResource, formatRef, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import { RESUME_DELETES_TOPIC, systemClock } from "@isthmus/plane";
import { type SimulatedCluster, simulatedCluster } from "@isthmus/simulator";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type HostileServer, hostileServer, modeNotice } from "./harness/hostileServer.ts";
import { NAMESPACE, until } from "./harness/replicas.ts";

const clusterName = "cluster-1";
const OWNED = { "owner.networking.mesh.gloo.solo.io": NAMESPACE };
const GONE: ResourceRef = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: "TrafficPolicy",
  name: "gone",
  namespace: "bookinfo",
  clusterName: "",
};

let cluster: SimulatedCluster;
/** Write calls of the agent, whether they changed anything or not. */
let calls: string[];
let server: HostileServer;
beforeEach(() => {
  calls = [];
  cluster = simulatedCluster({ name: clusterName, clock: systemClock, kinds: allKinds() });
  cluster.load([NAMESPACE, "bookinfo"].map((name) => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } })));
});
afterEach(() => server.stop());

const WRITES: ReadonlySet<PropertyKey> = new Set(["apply", "applyStatus", "create", "update", "updateStatus", "delete"]);

/** The cluster as the agent has it. */
function recorded(): SimulatedCluster {
  return new Proxy(cluster, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== "function") return member;
      return (...args: readonly (Resource | ResourceRef)[]) => {
        const [object] = args;
        if (WRITES.has(name) && object !== undefined)
          calls.push(`${String(name)} ${formatRef("metadata" in object ? refOf(object) : object)}`);
        return Reflect.apply(member, target, args) as unknown;
      };
    },
  });
}

async function connect(mode: object | "untold"): Promise<void> {
  server = await hostileServer({ cluster: recorded(), mode });
  await server.synced();
}

function route(name: string, host = `${name}.example`): AnyResource {
  const metadata = { name, namespace: "bookinfo", clusterName };
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata, spec: { hosts: [host] } };
}

const policy = {
  apiVersion: TrafficPolicy.apiVersion,
  kind: "TrafficPolicy",
  metadata: { name: "asked", namespace: "bookinfo" },
  spec: { policy: { requestTimeout: "1s" } },
};
const status = { ...policy, metadata: { ...policy.metadata, clusterName }, status: { state: "ACCEPTED" } };

/** What the agent answered, by the name of the object. */
function answers(): Readonly<Record<string, string>> {
  return Object.fromEntries([...server.rejections().values()].map(({ ref, code }) => [ref.name, code]));
}

/** Somebody whose object has the name of a desired one, and one who has labelled it as ours by hand. */
async function objectsOfOthers(): Promise<void> {
  const theirs = route("theirs", "somebody.example");
  await cluster.create({ ...theirs, metadata: { name: "theirs", namespace: "bookinfo" } });
  const labelled = route("labelled", "somebody.example");
  await cluster.create({ ...labelled, metadata: { name: "labelled", namespace: "bookinfo", labels: OWNED } });
}

const RESTRICTED: readonly (readonly [string, object])[] = [
  ["observe", { mode: "observe" }],
  ["freeze", { mode: "freeze" }],
  ["a word that nobody knows", { mode: "obsrve" }],
  ["what is no word", { mode: { manage: true } }],
  ["another cluster's objects", { mode: "observe", managedObjects: [{ kind: "VirtualService", namespace: "bookinfo", name: "another" }] }],
  ["an entry that is no whole name", { mode: "observe", managedObjects: [{ kind: "*", namespace: "*" }] }],
];

describe.each(RESTRICTED)("an agent in the mode %s", (_, mode) => {
  test("writes nothing of puts, takeovers, drift, deletes, prunes, statuses and approvals, and says what it would write", async () => {
    await connect({ mode: "manage" });
    await cluster.create(policy as Resource);
    await server.want([route("kept"), route("drifting"), route("deleted")]);
    await until(() => cluster.object(refOf(route("deleted"))) !== undefined, "what is managed is written");
    server.tell({ put: [modeNotice(clusterName, mode)], remove: [] });
    await server.want([route("kept"), route("drifting"), route("deleted"), route("first")]);
    await until(() => answers()["first"] === "WouldCreate", "the mode has been taken");
    await objectsOfOthers();
    calls.length = 0;
    const before = cluster.objects().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`);

    server.tell({ put: [status], remove: [] });
    await server.want([route("kept", "other.example"), route("drifting"), route("theirs"), route("labelled"), route("new")], {
      evidence: GONE,
    });
    await until(() => answers()["deleted"] === "WouldDelete", "the delete is kept aside");
    await server.ask(RESUME_DELETES_TOPIC);
    expect(answers()).toEqual({
      kept: "WouldChange",
      theirs: "WouldConflict",
      labelled: "WouldChange",
      new: "WouldCreate",
      deleted: "WouldDelete",
    });
    expect([...server.rejections().values()].find(({ ref }) => ref.name === "kept")?.message).toContain("would be changed: spec.hosts");
    expect(cluster.objects().map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)).toEqual(before);

    await cluster.delete({ ...refOf(route("drifting")), clusterName: "" });
    await until(() => answers()["drifting"] === "WouldCreate", "the drift is reported");
    // A server that takes its word back has said nothing else.
    server.tell({ put: [], remove: [refOf(modeNotice(clusterName, mode))] });
    await server.want([]);
    await until(() => answers()["kept"] === "WouldDelete", "what is wanted no longer stays");
    expect(Object.values(answers()).filter((code) => code !== "WouldDelete")).toEqual([]);
    expect(calls).toEqual([]);
  });
});

describe("an agent that starts", () => {
  test("writes nothing before it has received a mode, whatever else it receives, and then what is desired at that time", async () => {
    await cluster.create({ ...route("stray"), metadata: { name: "stray", namespace: "bookinfo", labels: OWNED } });
    await cluster.create(policy as Resource);
    await connect("untold");
    server.tell({ put: [status], remove: [] });
    await server.want([route("early")]);
    await server.want([route("late")]);
    await until(() => answers()["late"] === "WouldCreate", "what is desired is compared");
    expect(answers()).toMatchObject({ stray: "WouldDelete" });
    expect(calls).toEqual([]);
    server.tell({ put: [modeNotice(clusterName, { mode: "manage" })], remove: [] });
    await until(() => cluster.object(refOf(route("late"))) !== undefined, "what is desired is written");
    await until(() => calls.some((call) => call.startsWith("applyStatus")), "statuses are written");
    expect(cluster.object(refOf(route("early")))).toBeUndefined();
    await until(() => !server.rejections().has(resourceKeyOf(refOf(route("late")))), "it is no longer said to be missing");
  });
});
