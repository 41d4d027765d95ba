/** Words of the choice of clusters to which all lists keep. */
export const scopeStrings = {
  label: "Clusters that are shown",
  all: "All clusters",
  some: (chosen: number, all: number) => `${chosen} of ${all} clusters`,
  ofAll: (all: number) => `of ${all}`,
  without: (name: string) => `Leave out ${name}`,
  title: "Clusters",
  why: "Lists, graph, matrix and totals keep to the clusters chosen here. What is about no cluster in particular is always shown.",
  filter: "Filter clusters",
  none: "No cluster has this name.",
  unknown: "not known",
  clear: "Show all clusters",
  keptTo: (names: string) => `Only ${names} shown: clusters are chosen at the top of the page.`,
  only: (names: string) => (names.includes(", ") ? `clusters ${names} are` : `cluster ${names} is`),
  nothingWrong: "Nothing is wrong in the clusters that are shown, as far as the rules know.",
};
