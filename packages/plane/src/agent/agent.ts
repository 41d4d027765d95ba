import { type Delta, type Kind, type Meter, type Metric, noMeter, type Owner, type Resource } from "@isthmus/core";
import { type ClusterView, viewCluster } from "../clusterView.ts";
import { alwaysLeader, ledCluster, whileLeading } from "../leadership.ts";
import type { AgentLink, AgentLinkHandler, Clock, Cluster, Leadership, LinkState, Log } from "../ports.ts";
import { type RemovalLog, removalLog } from "../removalLog.ts";
import { type Generation, leadershipFor } from "./processes.ts";
import { type RelayLoops, startRelayLoops } from "./relayLoops.ts";
import { type AgentSettings, DEFAULT_SETTINGS } from "./settings.ts";

export interface AgentOptions {
  readonly cluster: Cluster;
  /** Makes the link to the server; called at the start of each turn of leading. The link must end when `turn` is aborted. */
  readonly link: (handler: AgentLinkHandler, turn: AbortSignal) => AgentLink & { readonly closed?: Promise<unknown> };
  /** Kinds whose objects are reported. */
  readonly sentKinds: readonly Kind[];
  /** Those of them by which users ask something of the plane: their statuses are written as the server says. */
  readonly userKinds: readonly Kind[];
  /** Those of which only what is in namespaces that discovery looks into is reported. */
  readonly scopedKinds: readonly Kind[];
  /** Kinds that the server may have written. */
  readonly writtenKinds: readonly Kind[];
  /** Whose objects are outputs of ours. */
  readonly owners: readonly Owner[];
  /** Kinds that discovery makes. */
  readonly discoveryKinds: readonly Kind[];
  /** The settings in what a server told; undefined when it is about something else. Throws InvalidResource. */
  readonly settingsTold: (resource: Resource) => AgentSettings | undefined;
  /** Which of several replicas of this agent speaks for the cluster. Default: this one, as there is no other. */
  readonly leadership?: Leadership;
  /** Which processes run where. Default: `gloo-mesh`. */
  readonly generation?: Generation;
  /** Lists everything anew so often, in milliseconds, beside watching. Default: never. */
  readonly relistMs?: number;
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Takes in figures as they arise. Default: nobody does. */
  readonly meter?: Meter;
}

/** A running agent: reports its cluster to the server, and makes it hold what the server wants. */
export interface Agent {
  /** Kept on every replica, so that one that takes over need not read its cluster first. */
  readonly view: ClusterView;
  /** `closed` on a replica that does not lead. */
  readonly linkState: LinkState;
  /** What of the plane's settings holds here. */
  readonly settings: AgentSettings;
  /** Lets go what a landslide of removals had held back; gives the number of objects. */
  resumeDeletes(): number;
  /** What is wanted in the cluster, in order of `resourceKeyOf`. */
  wanted(): readonly Resource[];
  /** The last removals, and why. */
  readonly removals: RemovalLog;
  /** Figures as they are now, beside those that the meter was told. */
  metrics(): readonly Metric[];
  /** Ends when the agent was aborted. */
  readonly ended: Promise<void>;
}

export function startAgent(options: AgentOptions, signal: AbortSignal): Agent {
  const {
    sentKinds,
    userKinds,
    writtenKinds,
    leadership = alwaysLeader,
    generation = "gloo-mesh",
    relistMs,
    clock,
    random,
    log,
    meter = noMeter,
  } = options;
  const removals = removalLog(() => clock.now());
  let turn: RelayLoops | undefined;

  const changed = (delta: Delta) => turn?.observed(delta);
  const kinds = [...sentKinds, ...writtenKinds.filter((kind) => !sentKinds.includes(kind))];
  const view = viewCluster(
    {
      cluster: options.cluster,
      kinds,
      ...(relistMs === undefined ? {} : { relistMs }),
      clock,
      random,
      log,
      keepsLastGood: (kind) => !userKinds.includes(kind),
      changed,
    },
    signal,
  );

  // What the relay carries up is what discovery reads: the two are one.
  const relay = leadershipFor("relay", generation, leadership) ?? alwaysLeader;
  const cluster = ledCluster(options.cluster, relay);
  const ended = whileLeading(
    relay,
    (until) => {
      turn = startRelayLoops({ ...options, cluster, view, removals, meter }, until);
      return turn;
    },
    signal,
  );

  return {
    view,
    get linkState() {
      return relay.isLeader ? (turn?.linkState ?? "connecting") : "closed";
    },
    get settings() {
      return turn?.settings ?? DEFAULT_SETTINGS;
    },
    resumeDeletes: () => turn?.resumeDeletes() ?? 0,
    wanted: () => turn?.wanted() ?? [],
    removals,
    metrics: () => turn?.metrics() ?? [],
    ended: Promise.all([view.ended, ended]).then(() => undefined),
  };
}
