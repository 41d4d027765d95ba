import type { ResourceRef } from "@isthmus/core";

/** How much an insight weighs. */
export type InsightSeverity = "error" | "warning" | "info";

/** What an insight is about, by the letters that its code begins with. */
export const INSIGHT_CATEGORIES = {
  BP: "Best practice",
  CFG: "Configuration",
  CRT: "Certificates",
  FED: "Federation",
  HLT: "Health",
  ING: "Gateways",
  OSM: "Open Service Mesh",
  REL: "Relay and clusters",
  RES: "Resilience",
  RTE: "Routing",
  SEC: "Security",
  UPG: "Upgrades",
} as const;

/** The letters that a code begins with. */
export type Category = keyof typeof INSIGHT_CATEGORIES;
/** Stable name of an insight: it keeps its meaning. */
export type InsightCode = `${Category}${number}`;

/** What to do about an insight. */
export interface Remedy {
  readonly text: string;
  /** Can be pasted into a shell. Kubeconfig contexts are taken to be named as the clusters. */
  readonly command?: string;
  /** A merge patch of the object, as JSON; `command` applies it. */
  readonly patch?: string;
}

/** Something wrong in the fleet, with what to do about it. */
export interface Insight {
  readonly code: InsightCode;
  readonly category: Category;
  readonly severity: InsightSeverity;
  readonly object: ResourceRef;
  /** Of the object; "" is the management cluster. */
  readonly cluster: string;
  /** Path of the member that it is about; "" is the object. */
  readonly field: string;
  /** Begins with neither object nor field. */
  readonly message: string;
  readonly remedy: Remedy;
  /** What was probably meant. */
  readonly nearMiss?: string;
  /** On which targets, for what was found of an object there: none is the object itself. */
  readonly targets?: readonly ResourceRef[];
}

/** The category of a code. */
export function categoryOf(code: InsightCode): Category {
  return code.replace(/\d+$/, "") as Category;
}

/** A `kubectl` command for the cluster and namespace of an object. Every word is safe in a shell, whatever objects are named. */
export function kubectl({ clusterName, namespace }: Pick<ResourceRef, "clusterName" | "namespace">, ...words: readonly string[]): string {
  const context = clusterName === "" ? [] : ["--context", clusterName];
  const place = namespace === "" ? [] : ["-n", namespace];
  return shellCommand("kubectl", ...context, ...place, ...words);
}

/** Words as a line for a shell: what is more than a plain word is quoted. */
export function shellCommand(...words: readonly string[]): string {
  return words.map((word) => (/^[\w.,:/@=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** A command that opens an object in an editor. */
export function editCommand(object: ResourceRef): string {
  return kubectl(object, "edit", object.kind.toLowerCase(), object.name);
}

/** A command and the merge patch that it applies. */
export function patchRemedy(text: string, object: ResourceRef, patch: object): Remedy {
  const json = JSON.stringify(patch);
  return { text, command: kubectl(object, "patch", object.kind.toLowerCase(), object.name, "--type", "merge", "-p", json), patch: json };
}
