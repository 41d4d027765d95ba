import { keyOf, kindKeyOf, type OutputSet, type Resource, type ResourceRef, refOf, resourceKeyOf } from "@isthmus/core";
import type { ConnectRequest, ConnectResponse } from "../src/gen/relay/v1/relay_pb.ts";
import { type AgentEffect, type AgentEvent, agentSession, stepAgent } from "../src/session/agentSession.ts";
import { type DesiredState, updateDesired, withoutDeletions } from "../src/session/desiredState.ts";
import type { Inventory } from "../src/session/inventory.ts";
import type { DeletionEvidence, DesiredUpdate, Rejection } from "../src/session/link.ts";
import {
  previousSessionOf,
  type ServerEffect,
  type ServerEvent,
  type ServerSession,
  serverSession,
  stepServer,
} from "../src/session/serverSession.ts";
import { byKey, wantedSet } from "./sessionFleet.ts";

const CLUSTER = "cluster-1";
const HEARTBEAT_MS = 1_000;

/** Both ends of the protocol without any transport: messages wait in two lists until they are delivered. */
export function sessionPair(kinds: readonly string[], remembers = false) {
  let memory: Inventory | undefined;
  let agent = agentSession({
    clusterName: CLUSTER,
    agent: { instance: "agent-1", version: "1", agentNamespace: "gloo-mesh", clusterUid: "uid" },
    kinds,
  });
  let server: ServerSession | undefined;
  let want: DesiredState | undefined;
  let wantsServer = new Map<string, Resource>();
  let sets = 0;
  let epoch = 0n;
  let now = 0;
  let mustReconnect = false;
  const up: ConnectRequest[] = [];
  const down: ConnectResponse[] = [];
  const cluster = new Map<string, Resource>();
  const known = new Map<string, Resource>();
  const applied = new Map<string, Resource>();
  const toAcknowledge: DesiredUpdate[] = [];
  const acknowledgedRevisions: { readonly epoch: bigint; readonly revision: number }[] = [];
  const deliveredRevisions: number[] = [];
  const violations: string[] = [];
  const agentEffects: AgentEffect[] = [];
  const serverEffects: ServerEffect[] = [];
  let isSyncedAtServer = false;
  let lastWanted: OutputSet | undefined;

  function agentDo(event: AgentEvent): readonly AgentEffect[] {
    const [next, effects] = stepAgent(agent, event);
    agent = next;
    agentEffects.push(...effects);
    for (const effect of effects) {
      if (effect.type === "send") up.push(effect.message);
      if (effect.type === "end") mustReconnect = true;
      if (effect.type === "deliver") deliver(effect.desired);
    }
    return effects;
  }

  function deliver(desired: DesiredUpdate): void {
    if (!isSyncedAtServer) violations.push("something was wanted of a cluster that is not synced");
    if ((deliveredRevisions.at(-1) ?? 0) >= desired.revision) violations.push("revisions fell");
    deliveredRevisions.push(desired.revision);
    for (const { ref, evidence } of desired.remove) {
      if (evidence.inputs.length === 0) violations.push(`${resourceKeyOf(ref)} removed without evidence`);
      if (!isRemovable(ref)) violations.push(`${resourceKeyOf(ref)} removed though it was wanted ever since`);
      applied.delete(resourceKeyOf(ref));
    }
    if (desired.complete) {
      const wanted = byKey(desired.put);
      for (const key of applied.keys()) if (!wanted.has(key)) applied.delete(key);
    }
    for (const resource of desired.put) applied.set(resourceKeyOf(refOf(resource)), resource);
    toAcknowledge.push(desired);
  }

  const everUnwanted = new Set<string>();
  function isRemovable(ref: ResourceRef): boolean {
    return everUnwanted.has(resourceKeyOf(ref));
  }

  function serverDo(event: ServerEvent): readonly ServerEffect[] {
    if (server === undefined) return [];
    const [next, effects] = stepServer(server, event);
    server = next;
    serverEffects.push(...effects);
    for (const effect of effects) serverEffect(effect);
    return effects;
  }

  function serverEffect(effect: ServerEffect): void {
    switch (effect.type) {
      case "send":
        down.push(effect.message);
        break;
      case "end":
        mustReconnect = true;
        break;
      case "observed":
        for (const resource of effect.observation.put) known.set(resourceKeyOf(refOf(resource)), resource);
        for (const ref of effect.observation.remove) known.delete(resourceKeyOf(ref));
        break;
      case "synced":
        isSyncedAtServer = true;
        for (const [key, resource] of known) {
          const keys = effect.complete.get(kindKeyOf(resource));
          if (keys !== undefined && !keys.has(keyOf(refOf(resource)))) known.delete(key);
        }
        break;
      case "acknowledged": {
        const { revision } = effect.acknowledgement;
        const last = acknowledgedRevisions.at(-1);
        if (last?.epoch === epoch && last.revision > revision) violations.push("acknowledged revision fell");
        acknowledgedRevisions.push({ epoch, revision });
        lastWanted = effect.desired;
        if (want !== undefined) want = withoutDeletions(want, effect.removed);
        break;
      }
      default:
        break;
    }
  }

  const pair = {
    up,
    down,
    known,
    applied,
    cluster,
    violations,
    agentEffects,
    serverEffects,
    agentDo,
    serverDo,
    get epoch() {
      return epoch;
    },
    get now() {
      return now;
    },
    get lastWanted() {
      return lastWanted;
    },
    get wanted() {
      return wantsServer as ReadonlyMap<string, Resource>;
    },
    put(resource: Resource) {
      cluster.set(resourceKeyOf(refOf(resource)), resource);
      agentDo({ type: "observed", observation: { put: [resource], remove: [] } });
    },
    remove(ref: ResourceRef) {
      cluster.delete(resourceKeyOf(ref));
      agentDo({ type: "observed", observation: { put: [], remove: [ref] } });
    },
    synced(kindKeys: readonly string[], unserved: readonly string[] = []) {
      agentDo({ type: "synced", kinds: kindKeys, unserved });
    },
    want(resources: readonly Resource[], traces: readonly string[] = []) {
      for (const key of wantsServer.keys()) everUnwanted.add(key);
      wantsServer = byKey(resources);
      const gone = [...(want?.desired.entries() ?? [])].map(([key]) => [key, undefined] as const);
      const here = [...wantedSet(resources).entries()];
      // Every other set is made from the one before, as translation makes them.
      const wanted = want === undefined || ++sets % 2 === 0 ? wantedSet(resources) : want.desired.with([...gone, ...here]);
      const evidence: DeletionEvidence = {
        reason: "InputChanged",
        inputs: [{ apiVersion: "v1", kind: "Service", name: "x", namespace: "y", clusterName: CLUSTER }],
        snapshot: 7,
      };
      const step = updateDesired(want, wanted, { evidenceOf: () => evidence, traces });
      want = step.state;
      serverDo({ type: "wanted", step });
    },
    flushAgent: () => agentDo({ type: "flush" }).length > 0,
    flushServer: () => serverDo({ type: "flush" }).length > 0,
    deliverUp() {
      const message = up.shift();
      if (message !== undefined) serverDo({ type: "received", message, now, ...(memory === undefined ? {} : { remembered: memory }) });
      return message !== undefined;
    },
    deliverDown() {
      const message = down.shift();
      if (message !== undefined) agentDo({ type: "received", message, now });
      return message !== undefined;
    },
    acknowledge(rejected: readonly Rejection[] = []) {
      const desired = toAcknowledge.shift();
      if (desired !== undefined) agentDo({ type: "acknowledged", acknowledgement: { revision: desired.revision, rejected } });
      return desired !== undefined;
    },
    /** The stream is lost with all that is on its way; another one is opened. */
    reconnect() {
      mustReconnect = false;
      up.length = 0;
      down.length = 0;
      agentDo({ type: "closed" });
      epoch += 1n;
      if (server?.agent !== undefined) memory = remembers ? previousSessionOf(server) : undefined;
      server = serverSession({
        clusterName: CLUSTER,
        serverId: "server-1",
        heartbeatMs: HEARTBEAT_MS,
        expiresAt: undefined,
        desired: want,
        now,
      });
      agentDo({ type: "opened", epoch, now });
    },
    /** Time for a heartbeat of both ends. */
    tick() {
      now += HEARTBEAT_MS;
      agentDo({ type: "tick", now });
      serverDo({ type: "tick", now });
    },
    /** Lets everything arrive, as a healthy network does. */
    heal() {
      for (let round = 0; round < 8; round++) {
        let isBusy = true;
        while (isBusy) {
          if (mustReconnect) pair.reconnect();
          isBusy =
            [pair.flushAgent(), pair.flushServer(), pair.deliverUp(), pair.deliverDown(), pair.acknowledge()].includes(true) ||
            mustReconnect;
        }
        if (round < 7) pair.tick();
      }
    },
  };
  pair.reconnect();
  return pair;
}
