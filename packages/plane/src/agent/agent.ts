import {
  compareKeys,
  type Delta,
  emptyDelta,
  type Kind,
  kindKeyOf,
  type Meter,
  type Metric,
  noMeter,
  type Owner,
  type Resource,
} from "@isthmus/core";
import { startApplier } from "../applier.ts";
import { type ClusterView, viewCluster } from "../clusterView.ts";
import { workItems } from "../figures.ts";
import { bearsLabelOf } from "../ownership.ts";
import type { AgentLink, AgentLinkHandler, Clock, Cluster, LinkState, Log } from "../ports.ts";
import { type RemovalLog, removalLog } from "../removalLog.ts";
import { startStatusWriter } from "../server/statusWriter.ts";
import { downstream } from "./downstream.ts";
import { noticeBoard } from "./notices.ts";
import { type AgentSettings, DEFAULT_SETTINGS } from "./settings.ts";
import { upstream } from "./upstream.ts";

export interface AgentOptions {
  readonly cluster: Cluster;
  /** Makes the link to the server; called once, at the start. */
  readonly link: (handler: AgentLinkHandler) => AgentLink;
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
  readonly clock: Clock;
  readonly random: () => number;
  readonly log: Log;
  /** Takes in figures as they arise. Default: nobody does. */
  readonly meter?: Meter;
}

/** A running agent: reports its cluster to the server, and makes it hold what the server wants. */
export interface Agent {
  readonly view: ClusterView;
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
  const { cluster, sentKinds, userKinds, writtenKinds, owners, clock, random, log, meter = noMeter } = options;
  let linkState: LinkState = "connecting";

  const link = options.link({
    desired: (desired) => down.desired(desired),
    told: (notices) => board.told(notices),
    state(state, detail) {
      if (state !== linkState) log.info({ cluster: cluster.name, state }, detail);
      const wasConnected = linkState === "connected";
      linkState = state;
      if (wasConnected && state !== "connected") down.disconnected();
    },
  });
  const up = upstream({
    link,
    kinds: sentKinds,
    userKinds,
    scopedKinds: options.scopedKinds,
    owners,
    scope: (snapshot) => board.settings.scopeIn(snapshot, cluster.name),
    random,
    log,
  });
  const writer = startStatusWriter({ cluster, live: () => view.snapshot, clock, random, log, meter }, signal);
  const board = noticeBoard({
    userKinds,
    view: () => view,
    writer,
    defaults: DEFAULT_SETTINGS,
    settingsTold: options.settingsTold,
    changed: () => up.observed(emptyDelta),
    log,
  });
  const removals = removalLog(() => clock.now());
  const applier = startApplier(
    { cluster, kinds: writtenKinds, owners, live: () => view.snapshot, clock, random, log, meter, removals, settled: () => down.settled() },
    signal,
  );
  const discovered = new Set(options.discoveryKinds.map(kindKeyOf));
  const writtenKeys = new Set(writtenKinds.map(kindKeyOf));
  const written = () => [...view.kinds].filter(([kindKey]) => writtenKeys.has(kindKey));
  const down = downstream(
    {
      link,
      applier,
      isViewComplete: () => view.isComplete,
      kinds: written,
      isOurs: (resource) => bearsLabelOf(resource, owners),
      isConnected: () => linkState === "connected",
      discovered,
      deleteLimits: () => board.settings.deleteLimits,
      clock,
      log,
    },
    signal,
  );
  // Nothing is reported before this function has returned: a watch answers in a later turn.
  const changed = (delta: Delta) => {
    up.observed(delta);
    down.observed(delta);
    board.observed(delta);
  };
  const kinds = [...sentKinds, ...writtenKinds.filter((kind) => !sentKinds.includes(kind))];
  const view = viewCluster({ cluster, kinds, clock, random, log, keepsLastGood: (kind) => !userKinds.includes(kind), changed }, signal);
  up.view(view);

  return {
    view,
    get linkState() {
      return linkState;
    },
    get settings() {
      return board.settings;
    },
    resumeDeletes: () => down.resumeDeletes(),
    wanted: () => [...applier.wanted].sort(([a], [b]) => compareKeys(a, b)).map(([, resource]) => resource),
    removals,
    metrics: () => [
      ...workItems({ apply: applier.sizes, status: writer.sizes }),
      { name: "gloo_mesh_removals_held", labels: {}, value: down.held },
    ],
    ended: Promise.all([view.ended, applier.ended, writer.ended]).then(() => undefined),
  };
}
