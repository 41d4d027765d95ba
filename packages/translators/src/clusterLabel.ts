/**
 * On every object that translation wants written: the cluster that it is written for, "" for the management cluster. It says
 * where an object belongs to the one who reads it; what is ours is recognized by the owner's label alone.
 * Source: the published API's labels.
 */
export const CLUSTER_LABEL = "cluster.multicluster.solo.io";
