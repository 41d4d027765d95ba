import { t } from "../../strings.ts";

/** The pages of the navigation, each with the letter that opens it after `g`. */
export const PAGES = [
  { path: "/", title: t.nav.overview, letter: "o" },
  { path: "/clusters", title: t.nav.clusters, letter: "c" },
  { path: "/meshes", title: t.nav.meshes, letter: "m" },
  { path: "/meshes/certificates", title: t.nav.certificates, letter: "e" },
  { path: "/destinations", title: t.nav.destinations, letter: "d" },
  { path: "/workloads", title: t.nav.workloads, letter: "w" },
  { path: "/policies", title: t.nav.policies, letter: "p" },
  { path: "/topology", title: t.nav.topology, letter: "t" },
  { path: "/access", title: t.nav.access, letter: "a" },
  { path: "/insights", title: t.nav.insights, letter: "i" },
  { path: "/debug", title: t.nav.debug, letter: "b" },
] as const;
