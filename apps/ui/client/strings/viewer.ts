/** Words about who reads the console, and what is left out for them. */
export const viewerStrings = {
  open: (username: string) => `User: ${username}`,
  title: "User",
  user: "Logged in as",
  partial: "partial view",
  all: "You see everything that the console has.",
  some: "You see a part of the fleet: what you may list in the management cluster. Objects of other clusters are shown where you may list the same resource in the same namespace of the management cluster, and get the KubernetesCluster.",
  missing: "Not in all namespaces, for want of the verb list:",
  clusters: "Not all clusters, for want of the verb list on kubernetesclusters.multicluster.solo.io",
  exhausted: "There is more than can be asked of the Kubernetes API for one user: the rest is left out.",
  empty: "Objects that you may not list are not shown.",
  translated: "You see a part of the fleet, and this page translates what you see: the servers may generate something else.",
  compared:
    "You see a part of the fleet: what differs of the rest is not shown, and what you may list now, and could not then, is as if it were new.",
  access: "You see a part of the fleet: a policy that you may not list can allow or deny what this page answers otherwise.",
  check: "See what you may:",
  command: "kubectl auth can-i --list",
  logOut: "Log out",
};
