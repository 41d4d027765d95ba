import {
  type AnyResource,
  type Clock,
  keyOf,
  kindKeyOf,
  type Log,
  type LogFields,
  type OutputSet,
  type Owner,
  outputSet,
  type Resource,
  refOf,
  resourceKeyOf,
} from "@isthmus/core";
import type {
  AgentLinkHandler,
  Connector,
  DesiredUpdate,
  Observation,
  Rejection,
  RunningAgentLink,
  RunningServerLink,
  ServerLinkHandler,
} from "../src/session/index.ts";
import { startAgentLink, startServerLink } from "../src/session/index.ts";

/** A line that was logged. */
export interface Line {
  readonly level: string;
  readonly fields: LogFields;
  readonly message: string;
}

export function recordingLog(): Log & { readonly lines: Line[] } {
  const lines: Line[] = [];
  const at = (level: string) => (fields: LogFields, message: string) => void lines.push({ level, fields, message });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

export function service(clusterName: string, name: string, extra: Record<string, unknown> = {}): AnyResource {
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "bookinfo", clusterName }, ...extra };
}

export function deployment(clusterName: string, name: string): Resource {
  return { apiVersion: "apps/v1", kind: "Deployment", metadata: { name, namespace: "bookinfo", clusterName } };
}

export function virtualService(clusterName: string, name: string, extra: Record<string, unknown> = {}): AnyResource {
  const metadata = { name, namespace: "bookinfo", clusterName, labels: { [OWNER.label]: OWNER.value } };
  return { apiVersion: "networking.istio.io/v1", kind: "VirtualService", metadata, ...extra };
}

const OWNER: Owner = { label: "owner.test", value: "relay" };

/** What a server may want: objects that bear the label of their owner, as \`virtualService\` does. */
export function wantedSet(resources: Iterable<Resource>): OutputSet {
  return outputSet(
    OWNER,
    [...resources].map((resource) => ({ resource, parents: [] })),
  );
}

export const KINDS = ["/Service", "apps/Deployment"];

export function byKey(resources: Iterable<Resource>): Map<string, Resource> {
  return new Map([...resources].map((resource) => [resourceKeyOf(refOf(resource)), resource]));
}

/** A server that remembers what each agent reported it, as the plane's does. */
export interface TestServer {
  readonly link: RunningServerLink;
  /** Per cluster, by `resourceKeyOf`. */
  readonly known: Map<string, Map<string, Resource>>;
  readonly events: string[];
  readonly synced: Set<string>;
  readonly acknowledged: {
    readonly clusterName: string;
    readonly revision: number;
    readonly rejected: readonly Rejection[];
    readonly wanted: OutputSet;
  }[];
  readonly observations: Observation[];
  readonly log: ReturnType<typeof recordingLog>;
  stop(): Promise<void>;
}

export function testServer(options: {
  clock: Clock;
  serverId?: string;
  heartbeatMs?: number;
  remembers?: boolean;
  tellsFirst?: boolean;
  places?: number;
}): TestServer {
  const stop = new AbortController();
  const known = new Map<string, Map<string, Resource>>();
  const events: string[] = [];
  const synced = new Set<string>();
  const acknowledged: TestServer["acknowledged"] = [];
  const observations: Observation[] = [];
  const log = recordingLog();
  const of = (clusterName: string) => {
    const map = known.get(clusterName) ?? new Map<string, Resource>();
    known.set(clusterName, map);
    return map;
  };
  const handler: ServerLinkHandler = {
    connected(clusterName) {
      events.push(`connected ${clusterName}`);
    },
    observed(clusterName, observation) {
      observations.push(observation);
      for (const resource of observation.put) of(clusterName).set(resourceKeyOf(refOf(resource)), resource);
      for (const ref of observation.remove) of(clusterName).delete(resourceKeyOf(ref));
    },
    synced(clusterName, complete, unserved) {
      events.push(
        `synced ${clusterName} ${[...complete.keys()].join(",")}${unserved.size > 0 ? ` without ${[...unserved].join(",")}` : ""}`,
      );
      synced.add(clusterName);
      for (const [key, resource] of of(clusterName)) {
        const keys = complete.get(kindKeyOf(resource));
        if (keys !== undefined && !keys.has(keyOf(refOf(resource)))) of(clusterName).delete(key);
      }
    },
    acknowledged(clusterName, { revision, rejected }, wanted) {
      acknowledged.push({ clusterName, revision, rejected, wanted });
    },
    disconnected(clusterName, reason) {
      events.push(`disconnected ${clusterName}: ${reason}`);
    },
  };
  const { clock, serverId = "server-1", heartbeatMs, remembers = false, tellsFirst = false, places } = options;
  const link = startServerLink(
    {
      serverId,
      handler,
      clock,
      random: () => 0.5,
      log,
      remembers: () => remembers,
      tellsFirst,
      ...(heartbeatMs === undefined ? {} : { heartbeatMs }),
      ...(places === undefined ? {} : { places }),
    },
    stop.signal,
  );
  return {
    link,
    known,
    events,
    synced,
    acknowledged,
    observations,
    log,
    async stop() {
      stop.abort();
      await link.closed;
    },
  };
}

/** An agent that applies what comes down to a map, as the plane's does to a cluster. */
export interface TestAgent {
  readonly link: RunningAgentLink;
  readonly applied: Map<string, Resource>;
  readonly desired: DesiredUpdate[];
  /** What was sent to it and not undone, by `resourceKeyOf`; undefined before the first time. */
  readonly told: () => ReadonlyMap<string, Resource> | undefined;
  readonly states: string[];
  readonly log: ReturnType<typeof recordingLog>;
  stop(): Promise<void>;
}

export interface TestAgentOptions {
  readonly clock: Clock;
  readonly clusterName: string;
  readonly connector: Connector;
  readonly kinds?: readonly string[];
  readonly userKinds?: readonly string[];
  readonly instance?: string;
  readonly acknowledges?: boolean;
  readonly maxDesiredBytes?: number;
  readonly rejects?: (desired: DesiredUpdate) => readonly Rejection[];
  readonly answer?: (topic: string, body: Uint8Array) => Promise<Uint8Array>;
}

export function testAgent(options: TestAgentOptions): TestAgent {
  const { clock, clusterName, connector, kinds = KINDS, instance = "agent-1", acknowledges = true, rejects = () => [], answer } = options;
  const stop = new AbortController();
  const applied = new Map<string, Resource>();
  const desired: DesiredUpdate[] = [];
  let told: Map<string, Resource> | undefined;
  const states: string[] = [];
  const log = recordingLog();
  const handler: AgentLinkHandler = {
    desired(set) {
      desired.push(set);
      if (set.complete) {
        const kept = new Set((set.withheld ?? []).map(resourceKeyOf));
        const wanted = byKey(set.put);
        for (const key of applied.keys()) if (!wanted.has(key) && !kept.has(key)) applied.delete(key);
      }
      for (const resource of set.put) applied.set(resourceKeyOf(refOf(resource)), resource);
      for (const { ref } of set.remove) applied.delete(resourceKeyOf(ref));
      if (acknowledges) link.acknowledge({ revision: set.revision, rejected: rejects(set) });
    },
    notices({ complete, put, remove }) {
      if (complete || told === undefined) told = new Map();
      for (const resource of put) told.set(resourceKeyOf(refOf(resource)), resource);
      for (const ref of remove) told.delete(resourceKeyOf(ref));
    },
    state(state, detail) {
      states.push(`${state}: ${detail}`);
    },
  };
  const link: RunningAgentLink = startAgentLink(
    {
      clusterName,
      kinds,
      agent: { instance, version: "1.0.0", agentNamespace: "gloo-mesh", clusterUid: `uid-of-${clusterName}` },
      connector,
      handler,
      clock,
      random: () => 0.5,
      log,
      ...(options.userKinds === undefined ? {} : { userKinds: options.userKinds }),
      ...(options.maxDesiredBytes === undefined ? {} : { maxDesiredBytes: options.maxDesiredBytes }),
      ...(answer === undefined ? {} : { answer: ({ topic, body }) => answer(topic, body) }),
    },
    stop.signal,
  );
  return {
    link,
    applied,
    desired,
    told: () => told,
    states,
    log,
    async stop() {
      stop.abort();
      await link.closed;
    },
  };
}
