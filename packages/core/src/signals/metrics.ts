/** A program that exposes metrics. */
export type MetricSource = "server" | "agent" | "console";

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
const CONSOLE: readonly MetricSource[] = ["console"];

// From a change that touches one object to a fleet from scratch.
const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Every metric that the programs expose, beside those of Node itself. Names that exist in the field are kept, as
 * dashboards and alerts use them; docs/reference/metrics.md is generated from here.
 */
export const METRICS = {
  relay_push_clients_connected: {
    type: "gauge",
    help: "1 if an agent of the cluster is connected to this server, else 0.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_pull_clients_connected: {
    type: "gauge",
    help: "Same as relay_push_clients_connected, because one stream serves both directions.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_push_clients_warmed: {
    type: "gauge",
    help: "1 if the agent of the cluster has completed its first full sync, else 0. Nothing is translated for a cluster at 0.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_connections_total: { type: "counter", help: "Number of accepted agent streams.", labels: ["cluster"], on: SERVER },
  relay_server_calls_total: {
    type: "counter",
    help: "Number of registration and certificate renewal calls, and of refused streams, by code.",
    labels: ["call", "code"],
    on: SERVER,
  },
  relay_server_connections_cut_total: {
    type: "counter",
    help: "Number of connections closed before the client authenticated: idle, too many streams, or over the limit per address or in total.",
    labels: ["reason"],
    on: SERVER,
  },
  gloo_mesh_workload_connections_cut_total: {
    type: "counter",
    help: "Number of connections of proxies closed by the agent before they had introduced themselves: idle, too many streams, or over the limit per address or in total.",
    labels: ["reason"],
    on: AGENT,
  },
  relay_server_messages_received_total: {
    type: "counter",
    help: "Number of messages received from agents.",
    labels: ["cluster", "type"],
    on: SERVER,
  },
  relay_server_messages_sent_total: {
    type: "counter",
    help: "Number of messages sent to agents.",
    labels: ["cluster", "type"],
    on: SERVER,
  },
  relay_server_objects_received_total: {
    type: "counter",
    help: "Number of objects that an agent reported, by operation: put, removed or withheld.",
    labels: ["cluster", "operation"],
    on: SERVER,
  },
  relay_server_objects_sent_total: {
    type: "counter",
    help: "Number of objects sent to an agent to write or to delete, or withheld because they are too large.",
    labels: ["cluster", "operation"],
    on: SERVER,
  },
  relay_server_revisions_acknowledged_total: {
    type: "counter",
    help: "Number of revisions of the desired state that an agent acknowledged.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_objects_rejected: {
    type: "gauge",
    help: "Number of desired objects and deletes that the agent of the cluster currently fails or refuses to apply, by code.",
    labels: ["cluster", "code"],
    on: SERVER,
  },
  relay_server_unconfirmed: {
    type: "gauge",
    help: "1 until the agent of the cluster has acknowledged a desired state with no delete on hold, to this server or to one whose state is in the store. Until then objects that are not desired are kept.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_reported_objects: {
    type: "gauge",
    help: "Number of objects that the connected agent has reported.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_outbox_objects: {
    type: "gauge",
    help: "Number of objects queued for the connected agent; only the latest version of each object is queued.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_unacknowledged_revisions: {
    type: "gauge",
    help: "Number of revisions sent and not yet acknowledged; at most 8.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_lag_seconds: {
    type: "gauge",
    help: "Age in seconds of the oldest change of the cluster's desired state that is not acknowledged; 0 if there is none.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_foreign_refs_total: {
    type: "counter",
    help: "Number of reported objects that were refused because they belong to another cluster.",
    labels: ["cluster"],
    on: SERVER,
  },
  relay_server_objects_refused_total: {
    type: "counter",
    help: "Number of reported objects that were refused, by reason: `Kind` (agents do not report this kind), `OtherCluster`, `Invalid` or `Quota`.",
    labels: ["cluster", "reason"],
    on: SERVER,
  },
  relay_server_resyncs_total: {
    type: "counter",
    help: "Number of resyncs because server and agent had different objects.",
    labels: ["cluster", "direction"],
    on: SERVER,
  },
  relay_server_unexplained_removals_total: {
    type: "counter",
    help: "Number of objects kept because their delete has no recorded cause. This is a bug in the management server.",
    labels: ["cluster"],
    on: SERVER,
  },
  gloo_mesh_objects_merged_total: {
    type: "counter",
    help: "Number of changed objects merged into the input of translation. The management cluster has the empty name.",
    labels: ["cluster"],
    on: SERVER,
  },
  gloo_mesh_translations_total: { type: "counter", help: "Number of translation runs.", labels: [], on: SERVER },
  gloo_mesh_insights: {
    type: "gauge",
    help: "Number of insights that are shown, by code and severity. On the leader.",
    labels: ["code", "severity"],
    on: SERVER,
  },
  gloo_mesh_insights_suppressed: {
    type: "gauge",
    help: "Number of insights that are suppressed, by code and severity. On the leader.",
    labels: ["code", "severity"],
    on: SERVER,
  },
  gloo_mesh_insight_events_total: {
    type: "counter",
    help: "Number of Kubernetes Events about insights that begin or end, by outcome: written, omitted because there were too many, or failed.",
    labels: ["outcome"],
    on: SERVER,
  },
  gloo_mesh_insights_time_sec: {
    type: "histogram",
    help: "Time from the start of a run of insights to its end, including the work of others in between, in seconds. On the leader.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_translation_time_sec: {
    type: "histogram",
    help: "Duration of one translation run in seconds.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_reconciler_time_sec: {
    type: "histogram",
    help: "Duration of one reconcile run in seconds: translation and handing over the desired state.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_propagation_time_sec: {
    type: "histogram",
    help: "Time in seconds from when the server received a change until an agent acknowledged that it is applied.",
    labels: [],
    on: SERVER,
    buckets: SECONDS,
  },
  gloo_mesh_certificate_expiry_timestamp_seconds: {
    type: "gauge",
    help: "Time at which the first certificate or token of a use expires, in seconds since 1970: relayRoot, relaySigning, relayServer, agent, meshIntermediate, meshRoot, externalRoot (Vault's, as the agent reads it) or joinToken. Roots of users in other namespaces are known to the leading server only.",
    labels: ["cluster", "use"],
    on: SERVER,
  },
  gloo_mesh_outputs: { type: "gauge", help: "Number of desired objects in all clusters.", labels: [], on: SERVER },
  gloo_mesh_translation_faults: {
    type: "gauge",
    help: "Number of objects whose translation fails with an internal error: each is a bug of the management plane.",
    labels: [],
    on: SERVER,
  },
  translation_error: {
    type: "counter",
    help: "Number of translation errors in user resources, counted when they first appear.",
    labels: ["gvk"],
    on: SERVER,
  },
  translation_warning: {
    type: "counter",
    help: "Number of translation warnings, counted when they first appear.",
    labels: ["gvk"],
    on: SERVER,
  },
  gloo_mesh_statuses_written_total: {
    type: "counter",
    help: "Number of statuses written to the program's own cluster.",
    labels: ["gvk"],
    on: BOTH,
  },
  resources_synced_total: {
    type: "counter",
    help: "Number of objects written to the program's own cluster, by result: created or updated. Unchanged objects are not counted.",
    labels: ["type", "result"],
    on: BOTH,
  },
  resources_deleted_total: {
    type: "counter",
    help: "Number of objects deleted from the program's own cluster.",
    labels: ["type"],
    on: BOTH,
  },
  resource_write_fails_total: {
    type: "counter",
    help: "Number of writes refused by the API server or by the program's own safety rules.",
    labels: ["type", "action", "code"],
    on: BOTH,
  },
  gloo_mesh_orders_refused_total: {
    type: "counter",
    help: "Number of writes requested by the server that the agent's limits refuse, by reason: Kind, Name, Namespace, Label, Metadata or Content.",
    labels: ["reason"],
    on: BOTH,
  },
  gloo_mesh_work_items: {
    type: "gauge",
    help: "Number of items in the work queues for the program's own cluster, by state: due, in progress, or waiting for a retry.",
    labels: ["queue", "state"],
    on: BOTH,
  },
  gloo_mesh_redis_sync_err_total: {
    type: "counter",
    help: "Number of failed calls to the shared store. The server continues from memory and retries.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_clusters_to_translate: {
    type: "gauge",
    help: "Number of synced clusters queued for their first translation; changes by users go first.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_up: { type: "gauge", help: "1 if the shared store answers, else 0.", labels: [], on: SERVER },
  gloo_mesh_store_protected: {
    type: "gauge",
    help: "1 if the connection to Redis uses TLS and a password, else 0. Absent without Redis.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_used_bytes: {
    type: "gauge",
    help: "Memory in bytes that Redis uses of its limit, as it says once a minute. Absent without Redis, and where its user may not ask.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_limit_bytes: {
    type: "gauge",
    help: "Memory in bytes that Redis may use (maxmemory). Absent where it sets no limit, or does not say.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_evicts: {
    type: "gauge",
    help: "1 if Redis drops entries at its memory limit (maxmemory-policy other than noeviction), else 0. Absent where it does not say.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_writes_refused: {
    type: "gauge",
    help: "Number of things that this server cannot write to the shared store because it is full: what is reported of a cluster, desired in it, its activity, insights and the like. The condition StoreHasRoom of the Settings names them.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_refused_total: {
    type: "counter",
    help: "Number of values in Redis and messages on its channel that were ignored because they are not signed by a server of this management plane.",
    labels: ["what"],
    on: ["server", "console"],
  },
  gloo_mesh_console_streams: {
    type: "gauge",
    help: "Number of browsers that follow the console.",
    labels: [],
    on: CONSOLE,
  },
  gloo_mesh_console_age_seconds: {
    type: "gauge",
    help: "Seconds since the store last answered the console, which shows what it knew then. Missing before the first answer.",
    labels: [],
    on: CONSOLE,
  },
  gloo_mesh_store_lag_seconds: {
    type: "gauge",
    help: "Age in seconds of the oldest pending operation on the shared store.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_waiting: {
    type: "gauge",
    help: "Number of clusters with pending writes to, or reads from, the shared store.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_clusters_to_read: {
    type: "gauge",
    help: "Number of clusters found in the store when this server started that have not been read yet.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_objects_refused_total: {
    type: "counter",
    help: "Number of objects in the store that were ignored, by reason: `Kind` (agents do not report this kind), `OtherCluster` or `Invalid`.",
    labels: ["cluster", "reason"],
    on: SERVER,
  },
  gloo_mesh_store_clusters_owned: {
    type: "gauge",
    help: "Number of clusters whose input this replica writes, because their agents are, or were last, connected to it.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_store_replicas: {
    type: "gauge",
    help: "Number of server replicas registered in the store, including this one.",
    labels: [],
    on: SERVER,
  },
  gloo_mesh_wanted_digest: {
    type: "gauge",
    help: "First 48 bits of the digest of the cluster's desired state. Replicas with the same input have the same value.",
    labels: ["cluster"],
    on: SERVER,
  },
  gloo_mesh_access_log_entries_total: {
    type: "counter",
    help: "Number of access log entries received from proxies, by whether the sender's address is known to be that of the pod that it names.",
    labels: ["verified"],
    on: AGENT,
  },
  gloo_mesh_access_log_entries_dropped_total: {
    type: "counter",
    help: "Number of access log entries that are not kept any more, by the limit reached: Ring (entries per proxy), Proxies, Memory or Size (of one entry).",
    labels: ["reason"],
    on: AGENT,
  },
  gloo_mesh_access_log_streams_refused_total: {
    type: "counter",
    help: "Number of access log streams closed by the agent: malformed, without an identifier, or above the limit.",
    labels: [],
    on: AGENT,
  },
  gloo_mesh_access_log_streams: { type: "gauge", help: "Number of open access log streams of proxies.", labels: [], on: AGENT },
  gloo_mesh_access_log_bytes: { type: "gauge", help: "Memory used for access log entries, in bytes.", labels: [], on: AGENT },
  gloo_mesh_scrapes_total: {
    type: "counter",
    help: "Number of attempts of the agent's leader to read the metrics of a proxy or control plane, by result: read or failed.",
    labels: ["result"],
    on: AGENT,
  },
  gloo_mesh_scraped_bytes_total: { type: "counter", help: "Bytes of metrics read from proxies and control planes.", labels: [], on: AGENT },
  gloo_mesh_scraped_samples_refused_total: {
    type: "counter",
    help: "Number of samples of proxies that are not counted: of more than 500 destinations of a proxy, or with a name that is none.",
    labels: [],
    on: AGENT,
  },
  gloo_mesh_scraped_edges_forgotten_total: {
    type: "counter",
    help: "Number of edges read from proxies whose requests are not counted, as the agent remembers 100,000; namespaces have equal shares.",
    labels: [],
    on: AGENT,
  },
  relay_agent_connected: { type: "gauge", help: "1 if the agent is connected to a management server, else 0.", labels: [], on: AGENT },
  relay_agent_messages_received_total: {
    type: "counter",
    help: "Number of messages received from the management server.",
    labels: ["type"],
    on: AGENT,
  },
  relay_agent_messages_sent_total: {
    type: "counter",
    help: "Number of messages sent to the management server.",
    labels: ["type"],
    on: AGENT,
  },
  relay_agent_objects_untold_total: {
    type: "counter",
    help: "Number of objects not sent, or refused by the management server.",
    labels: [],
    on: AGENT,
  },
  relay_agent_outbox_objects: {
    type: "gauge",
    help: "Number of objects queued for the management server; only the latest version of each object is queued.",
    labels: [],
    on: AGENT,
  },
  relay_agent_resyncs_total: {
    type: "counter",
    help: "Number of resyncs because server and agent had different objects.",
    labels: ["direction"],
    on: AGENT,
  },
  relay_agent_streams_ended_total: {
    type: "counter",
    help: "Number of ended connections and failed connection attempts, by code.",
    labels: ["code"],
    on: AGENT,
  },
  gloo_mesh_removals_held: {
    type: "gauge",
    help: "Number of deletes on hold because they exceed a delete budget; they wait for approval.",
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

/** For the one who is not interested. */
export const noMeter: Meter = { add: () => undefined, record: () => undefined };
