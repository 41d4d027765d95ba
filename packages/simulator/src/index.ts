export { macrotask, type VirtualClock, virtualClock } from "./clock.ts";
export { type Faults, type SimulatedCluster, type SimulatedClusterOptions, simulatedCluster } from "./cluster.ts";
export { READY_ANNOTATION } from "./controllers/pods.ts";
export { type ControllersOptions, startControllers } from "./controllers/startControllers.ts";
export { type DemoClustersOptions, demoClusters } from "./demo/demoClusters.ts";
export { demoPolicies } from "./demo/demoPolicies.ts";
export type { Call, Fault, Verb } from "./faults.ts";
export type { ClusterImage } from "./state.ts";
