/** A program that exposes metrics. */
export type MetricSource = "server" | "agent";

/** What a metric says. Of a histogram, `buckets` are the upper bounds, in the unit of its name. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly help: string;
  readonly labels: readonly string[];
  readonly on: readonly MetricSource[];
  readonly buckets?: readonly number[];
}

const BOTH: readonly MetricSource[] = ["server", "agent"];
const SERVER: readonly MetricSource[] = ["server"];
const AGENT: readonly MetricSource[] = ["agent"];

// From a change that touches one object to a fleet from scratch.
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Every metric that the programs expose, beside those of Node itself. Names that exist in the field are kept, as
 * dashboards and alerts use them; docs/reference/metrics.md is generated from here.
 */
export const METRICS = {
  relay_push_clients_connected: {
    type: "gauge",
    help: "Whether an agent of the cluster is connected to this server.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_pull_clients_connected: {
    type: "gauge",
    help: "The same: one stream serves both directions.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_push_clients_warmed: {
    type: "gauge",
    help: "Whether everything in the cluster is known: its agent has reported all of it. 0 for long: nothing is translated for it.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_connections_total: { type: "counter", help: "Streams of agents that were accepted.", labels: ["cluster"], on: SERVER },
  relay_server_calls_total: {
    type: "counter",
    help: "Calls of registration and renewal, and refused streams.",
    labels: ["call", "code"],
    on: SERVER,
  },
  relay_server_connections_cut_total: {
    type: "counter",
    help: "Connections that were cut before they showed who they are: idle, too many streams, or one too many of an address or of all.",
    labels: ["reason"],
    on: SERVER,
  },
  relay_server_messages_received_total: { type: "counter", help: "Messages of agents.", labels: ["cluster", "type"], on: SERVER },
  relay_server_messages_sent_total: { type: "counter", help: "Messages to agents.", labels: ["cluster", "type"], on: SERVER },
  relay_server_objects_received_total: {
    type: "counter",
    help: "Objects that an agent reported as put, removed or withheld.",
    labels: ["cluster", "operation"],
    on: SERVER,
  },
  relay_server_objects_sent_total: {
    type: "counter",
    help: "Objects that an agent was told to put or to remove, or that were withheld as too large.",
    labels: ["cluster", "operation"],
    on: SERVER,
  },
  relay_server_revisions_acknowledged_total: {
    type: "counter",
    help: "Answers of an agent to what is wanted in its cluster.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_objects_rejected: {
    type: "gauge",
    help: "Wanted objects and removals that the cluster's agent cannot or may not carry out now.",
    labels: ["cluster", "code"],
    on: SERVER,
  },
  relay_server_reported_objects: { type: "gauge", help: "Objects that the connected agent has reported.", labels: ["cluster"], on: SERVER },
  relay_server_outbox_objects: {
    type: "gauge",
    help: "Objects that wait to be sent to the connected agent: the latest of each.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_unacknowledged_revisions: {
    type: "gauge",
    help: "Revisions that were sent and not answered: at most 8.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_lag_seconds: {
    type: "gauge",
    help: "For how long something has been wanted in the cluster that is not acknowledged; 0 when all is.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_foreign_refs_total: {
    type: "counter",
    help: "Objects of other clusters that an agent spoke of; they were refused.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_objects_refused_total: {
    type: "counter",
    help: "Objects that an agent reported and that were refused: `Kind`, which agents do not report; `OtherCluster`; `Invalid`; `Quota`.",
    labels: ["cluster", "reason"],
    on: SERVER,
  },
  relay_server_resyncs_total: {
    type: "counter",
    help: "Times that the two ends held different objects and sent them again.",
    labels: ["cluster", "direction"],
    on: SERVER,
  },
  relay_server_unexplained_removals_total: {
    type: "counter",
    help: "Objects that stay as nothing explains their removal: a defect of ours.",
    labels: ["cluster"],
    on: SERVER,
  },
  gloo_mesh_objects_merged_total: {
    type: "counter",
    help: "Objects of the clusters that changed what translation reads; the management cluster is the empty name.",
    labels: ["cluster"],
    on: SERVER,
  },
  gloo_mesh_translations_total: { type: "counter", help: "Runs of translation.", labels: [], on: SERVER },
  gloo_mesh_translation_time_sec: {
    type: "histogram",
    help: "Seconds that one run of translation took.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_reconciler_time_sec: {
    type: "histogram",
    help: "Seconds that one run of the reconciler took: translation, and handing on what is wanted.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_propagation_time_sec: {
    type: "histogram",
    help: "Seconds from the moment that the server saw a change to an agent's answer that it is applied.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_outputs: { type: "gauge", help: "Objects that are wanted in the clusters.", labels: [], on: SERVER },
  translation_error: {
    type: "counter",
    help: "Findings of translation that reject something a user wrote, counted when they appear.",
    labels: ["gvk"],
    on: SERVER,
  },
  translation_warning: { type: "counter", help: "Warnings of translation, counted when they appear.", labels: ["gvk"], on: SERVER },
  gloo_mesh_statuses_written_total: { type: "counter", help: "Statuses written to the program's own cluster.", labels: ["gvk"], on: BOTH },
  resources_synced_total: {
    type: "counter",
    help: "Objects written to the program's own cluster, as created or updated. Objects that were as they ought to be are not counted.",
    labels: ["type", "result"],
    on: BOTH,
  },
  resources_deleted_total: { type: "counter", help: "Objects removed from the program's own cluster.", labels: ["type"], on: BOTH },
  resource_write_fails_total: {
    type: "counter",
    help: "Writes that the API server or our safety rules refused.",
    labels: ["type", "action", "code"],
    on: BOTH,
  },
  gloo_mesh_orders_refused_total: {
    type: "counter",
    help: "Orders of the server that go beyond what it may have written here, by what is wrong: Kind, Name, Namespace, Label, Metadata, Content.",
    labels: ["reason"],
    on: BOTH,
  },
  gloo_mesh_work_items: {
    type: "gauge",
    help: "Work on objects of the program's own cluster: due, being worked on, or waiting to be tried again.",
    labels: ["queue", "state"],
    on: BOTH,
  },
  gloo_mesh_redis_sync_err_total: {
    type: "counter",
    help: "Calls of the shared store that failed; the server goes on from memory and tries again.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_clusters_to_translate: {
    type: "gauge",
    help: "Clusters of which everything is known and that wait to be translated, behind changes of users.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_up: { type: "gauge", help: "Whether the shared store answers.", labels: [], on: SERVER },
  gloo_mesh_store_protected: {
    type: "gauge",
    help: "Whether Redis is reached by TLS and with a password; absent with a store of the server's own.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_refused_total: {
    type: "counter",
    help: "What was found in Redis, or heard on its channel, and does not count, as no server of this plane wrote it there.",
    labels: ["what"],
    on: SERVER,
  },
  gloo_mesh_store_lag_seconds: {
    type: "gauge",
    help: "How long the oldest work for the shared store has been waiting.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_waiting: { type: "gauge", help: "Clusters for which something is to be written or read.", labels: [], on: SERVER },
  gloo_mesh_store_clusters_to_read: {
    type: "gauge",
    help: "Clusters that the store had when this server started and that have not been read yet.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_objects_refused_total: {
    type: "counter",
    help: "Objects in the store that were left out: `Kind`, which agents do not report; `OtherCluster`; `Invalid`.",
    labels: ["cluster", "reason"],
    on: SERVER,
  },
  gloo_mesh_store_clusters_owned: {
    type: "gauge",
    help: "Clusters whose input this replica writes, as their agents are, or were last, connected to it.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_replicas: { type: "gauge", help: "Servers that run, by the store's word; this one included.", labels: [], on: SERVER },
  gloo_mesh_wanted_digest: {
    type: "gauge",
    help: "The first 48 bits of the digest of what is wanted in the cluster: equal on replicas that know the same.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_agent_connected: { type: "gauge", help: "Whether the agent is connected to a management server.", labels: [], on: AGENT },
  relay_agent_messages_received_total: { type: "counter", help: "Messages of the management server.", labels: ["type"], on: AGENT },
  relay_agent_messages_sent_total: { type: "counter", help: "Messages to the management server.", labels: ["type"], on: AGENT },
  relay_agent_objects_untold_total: {
    type: "counter",
    help: "Objects that could not be sent, or that the management server did not take.",
    labels: [],
    on: AGENT,
  },
  relay_agent_outbox_objects: {
    type: "gauge",
    help: "Objects that wait to be reported: the latest of each.",
    labels: [],
    on: AGENT,
  },
  relay_agent_resyncs_total: {
    type: "counter",
    help: "Times that the two ends held different objects and sent them again.",
    labels: ["direction"],
    on: AGENT,
  },
  relay_agent_streams_ended_total: {
    type: "counter",
    help: "Connections that ended, and attempts that failed.",
    labels: ["code"],
    on: AGENT,
  },
  gloo_mesh_removals_held: {
    type: "gauge",
    help: "Removals that wait for somebody to say that so many objects may go.",
    labels: [],
    on: AGENT,
  },
} as const satisfies Readonly<Record<string, MetricDefinition>>;

export type MetricName = keyof typeof METRICS;

/** Values of a metric's labels. */
export type MetricLabels = Readonly<Record<string, string>>;

/** One figure as it is now. That of a counter never falls while the process lives. */
export interface Metric {
  readonly name: MetricName;
  readonly labels: MetricLabels;
  readonly value: number;
}

/** Takes figures in as they arise. Never throws for the world's faults, returns at once. */
export interface Meter {
  /** Adds to a counter; by default 1. */
  add(name: MetricName, labels?: MetricLabels, amount?: number): void;
  /** Records one value of a histogram. */
  record(name: MetricName, value: number, labels?: MetricLabels): void;
}

/** For whoever is not interested. */
export const noMeter: Meter = { add: () => undefined, record: () => undefined };
