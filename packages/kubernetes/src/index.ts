export { kubernetesAccessReviews } from "./accessReviews.ts";
export { type ApiServer, apiServerOf, type LogOptions, type Permission } from "./apiServer.ts";
export { kubernetesAuthorizer } from "./authorizer.ts";
export { type KubernetesClusterOptions, kubernetesCluster } from "./cluster.ts";
export { type Kubeconfig, type KubeconfigSource, loadKubeconfig } from "./kubeconfig.ts";
export { kubeconfigOfSecret } from "./kubeconfigOfSecret.ts";
export { type PodLogs, podLogs } from "./podLog.ts";
export type { PodPort } from "./podPort.ts";
