/** Topic of the query for the traffic of a cluster; the query and its answer are JSON (`TrafficQuery` and `TrafficAnswer` of packages/dataplane). */
export const MESH_METRICS_TOPIC = "mesh-metrics";
