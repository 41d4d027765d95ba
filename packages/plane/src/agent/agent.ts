import { type Delta, type Meter, type Metric, noMeter, type Resource } from "@isthmus/core";
import { type ClusterView, viewCluster } from "../clusterView.ts";
import { alwaysLeader, ledCluster, whileLeading } from "../leadership.ts";
import type { Leadership, LinkState } from "../ports.ts";
import { type RemovalLog, removalLog } from "../removalLog.ts";
import { type Generation, leadershipFor } from "./processes.ts";
import { type AgentParts, type RelayLoops, startRelayLoops } from "./relayLoops.ts";
import { type AgentSettings, DEFAULT_SETTINGS } from "./settings.ts";

export interface AgentOptions extends AgentParts {
  /** Which of several replicas of this agent speaks for the cluster. Default: this one, as there is no other. */
  readonly leadership?: Leadership;
  /** Which processes run where. Default: `gloo-mesh`. */
  readonly generation?: Generation;
  /** Lists everything anew so often, in milliseconds, beside watching. Default: never. */
  readonly relistMs?: number;
  /** Takes in what is removed, and why. Default: a log of its own. */
  readonly removals?: RemovalLog;
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
  /** The server's word that lets go what a landslide of removals had held back; gives the number of objects. */
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
    keepsLastGood,
    writtenKinds,
    leadership = alwaysLeader,
    generation = "gloo-mesh",
    relistMs,
    clock,
    random,
    log,
    removals = removalLog(() => clock.now()),
    meter = noMeter,
  } = options;
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
      keepsLastGood,
      changed,
      servedAgain: (kindKey) => turn?.servedAgain(kindKey),
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
    resumeDeletes: () => turn?.resumeDeletes("server") ?? 0,
    wanted: () => turn?.wanted() ?? [],
    removals,
    metrics: () => turn?.metrics() ?? [],
    ended: Promise.all([view.ended, ended]).then(() => undefined),
  };
}
