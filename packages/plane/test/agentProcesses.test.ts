import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { AGENT_PROCESSES, processStarter } from "../src/agent/processes.ts";
import type { Leadership } from "../src/index.ts";
import { demoFleet, type Fleet } from "./fleet.ts";
import { eventually, quiet } from "./virtualTime.ts";

/** A replica that does not lead until the test says so. */
function elected(): Leadership & { become(isLeader: boolean): void } {
  const listeners = new Set<(isLeader: boolean) => void>();
  let isLeader = false;
  return {
    get isLeader() {
      return isLeader;
    },
    fence: 1,
    onChange(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    become(now) {
      isLeader = now;
      for (const listener of listeners) listener(now);
    },
  };
}

/** A process that ends when it is aborted, and says so. */
function recorded(log: string[], name: string): (signal: AbortSignal) => { readonly name: string; readonly ended: Promise<void> } {
  return (signal) => {
    log.push(`${name} starts`);
    const ended = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    return { name, ended: ended.then(() => void log.push(`${name} ends`)) };
  };
}

const ticks = () => new Promise((resolve) => setImmediate(resolve));

describe("the table of agent processes", () => {
  it("is the one of decision 0018", () => {
    const text = readFileSync(new URL("../../../docs/decisions/0018-one-replica-leads.md", import.meta.url), "utf8");
    const rows = [...text.matchAll(/^\| `(\w+)` \| ([\w ]+) \|/gm)].map(([, name, place]) => [name, place]);
    const listed = Object.entries(AGENT_PROCESSES).map(([name, { runsOn }]) => [name, runsOn === "leader" ? "leader" : "every replica"]);
    expect(rows).toEqual(listed);
  });

  it("starts each process where it says: at once on every replica, or for each term of the leader", async () => {
    const stop = new AbortController();
    const leadership = elected();
    const log: string[] = [];
    const processes = processStarter(leadership, stop.signal);
    const watch = processes.everyReplica("clusterWatch", recorded(log, "watch"));
    const relay = processes.leader("relay", recorded(log, "relay"));
    processes.leader("meshMetrics", recorded([], "meshMetrics"));
    processes.leader("certificates", recorded([], "certificates"));
    processes.everyReplica("wasmFilters", recorded([], "wasmFilters"));
    processes.leader("apiDiscovery", recorded([], "apiDiscovery"));
    processes.everyReplica("accessLogs", recorded([], "accessLogs"));
    processes.everyReplica("replicaQueries", recorded([], "replicaQueries"));
    const ended = processes.run();
    expect(watch.name).toBe("watch");
    expect(relay.current).toBeUndefined();
    expect(log).toEqual(["watch starts"]);
    leadership.become(true);
    await ticks();
    expect(relay.current?.name).toBe("relay");
    leadership.become(false);
    await ticks();
    leadership.become(true);
    await ticks();
    expect(log).toEqual(["watch starts", "relay starts", "relay ends", "relay starts"]);
    stop.abort(new Error("the test is over"));
    await ended;
    expect(log.slice(4).sort()).toEqual(["relay ends", "watch ends"]);
  });

  it("starts those of a term together, and not before all of the term before have ended", async () => {
    const stop = new AbortController();
    const leadership = elected();
    const log: string[] = [];
    const processes = processStarter(leadership, stop.signal);
    processes.everyReplica("clusterWatch", recorded([], "watch"));
    const slow = new AbortController();
    const isReleased = new Promise<void>((resolve) => slow.signal.addEventListener("abort", () => resolve(), { once: true }));
    const relay = processes.leader("relay", (term) => {
      const process = recorded(log, "relay")(term);
      return { ...process, ended: process.ended.then(() => isReleased) };
    });
    processes.leader("meshMetrics", recorded([], "meshMetrics"));
    const relays: unknown[] = [];
    processes.leader("certificates", (term) => {
      relays.push(relay.current);
      return recorded(log, "certificates")(term);
    });
    processes.everyReplica("wasmFilters", recorded([], "wasmFilters"));
    processes.leader("apiDiscovery", recorded([], "apiDiscovery"));
    processes.everyReplica("accessLogs", recorded([], "accessLogs"));
    processes.everyReplica("replicaQueries", recorded([], "replicaQueries"));
    const ended = processes.run();
    for (const isLeader of [true, false, true]) {
      leadership.become(isLeader);
      await ticks();
    }
    expect(log).toEqual(["relay starts", "certificates starts", "relay ends", "certificates ends"]);
    slow.abort();
    await ticks();
    expect(log.slice(4)).toEqual(["relay starts", "certificates starts"]);
    expect(relays[1]).toBe(relay.current);
    expect(relays[1]).not.toBe(relays[0]);
    stop.abort(new Error("the test is over"));
    await ended;
  });

  it("lets no agent start that leaves one of them out", () => {
    const processes = processStarter(elected(), AbortSignal.abort(new Error("never started")));
    processes.everyReplica("clusterWatch", recorded([], "watch"));
    expect(() => processes.run()).toThrow(
      "the agent does not start wasmFilters, accessLogs, replicaQueries, relay, meshMetrics, certificates, apiDiscovery, which AGENT_PROCESSES lists",
    );
  });
});

describe("an agent that does not lead", () => {
  let fleet: Fleet;
  beforeEach(() => {
    fleet = demoFleet();
    fleet.startServer();
  });
  afterEach(() => fleet.stop());

  it("watches its cluster, and connects when it becomes the leader", async () => {
    const leadership = elected();
    fleet.startAgent("cluster-1", { leadership });
    const agent = fleet.agent("cluster-1");
    await eventually(() => expect(agent.view.isComplete).toBe(true));
    await quiet();
    expect(agent.linkState).toBe("closed");
    expect(fleet.server().store.clusters.has("cluster-1")).toBe(false);
    leadership.become(true);
    await eventually(() => expect(agent.linkState).toBe("connected"));
    leadership.become(false);
    await eventually(() => expect(fleet.server().store.clusters.get("cluster-1")?.connected).toBe(false));
    expect(agent.linkState).toBe("closed");
  });
});
