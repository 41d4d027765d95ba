/** The type of a Secret that holds how to reach a cluster; its name is the cluster's. Source: published registration. */
export const KUBECONFIG_SECRET_TYPE = "solo.io/kubeconfig";
