/** Words of the tab Generated. */
export const generatedStrings = {
  what: "What is to be in the clusters, with what is known of it there. Agents do not send back the objects that they write: what somebody else has under one of these names is shown in full. Where no status says how one of them stands, that is not known.",
  views: { all: "All objects", compared: "Before and after" },
  view: "View",
  compared: "Without it, and with it",
  comparedWhy: "What this policy changes in each cluster: two translations of this page, without it and with it.",
  comparedNone: "No object in a cluster would be another one without it.",
  sides: ["What the cluster has", "What is generated"],
  legend: "− what the cluster has under this name, + what is generated.",
  states: {
    applied: "Applied",
    differs: "Differs",
    taken: "Name is taken",
    refused: "Not written",
    held: "Held",
    waiting: "Waiting",
    unknown: "Not known",
  },
  takenWhy: "An object of somebody else has this name in the cluster: it is left as it is, and this one is not written.",
  heldWhy: (mode: string) => `The mode of the cluster is ${mode}: nothing is written there.`,
  offlineWhy: "No agent is connected: what is there stays as it was last written.",
  laggingWhy: "The cluster's agent has not acknowledged all changes yet.",
} as const;
