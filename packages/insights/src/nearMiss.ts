import { Destination, kindOf, Mesh } from "@isthmus/api";
import { displayName, nearestName, type Snapshot } from "@isthmus/core";
import type { Insight, InsightCode } from "./insight.ts";

interface Name {
  readonly name: string;
  readonly namespace: string;
  readonly clusterName: string;
}

// Who has so many has another trouble than a typing mistake.
const MOST_HINTS = 100;

// What a store has may be of any code.
const CANDIDATES: ReadonlyMap<InsightCode, (known: Snapshot) => readonly Name[]> = new Map([
  ["RTE1001", services],
  ["RTE1002", services],
  ["RTE1015", services],
  ["FED1001", (known) => [...known.of(Mesh)].map(({ metadata }) => nameOf(metadata))],
]);

/**
 * Gives the same insight; one about a reference of a user's resource to something that does not exist says what was probably meant. As
 * that is looked for in the whole fleet, only the first hundred that it is asked for say so.
 */
export function intendedNames(known: Snapshot): (insight: Insight) => Insight {
  let hints = 0;
  return (insight) => {
    const candidates = CANDIDATES.get(insight.code);
    if (candidates === undefined || insight.nearMiss !== undefined || insight.field === "") return insight;
    const wanted = referenceAt(insight, known);
    if (wanted === undefined || hints++ >= MOST_HINTS) return insight;
    const nearMiss = nearest(wanted, candidates(known));
    return nearMiss === undefined ? insight : { ...insight, nearMiss };
  };
}

/** What stands at the field of the object, if that is a reference. */
function referenceAt({ object, field }: Insight, known: Snapshot): Name | undefined {
  const kind = kindOf(object.apiVersion, object.kind);
  let member: unknown = kind === undefined ? undefined : known.of(kind).get(object);
  for (const step of field.split(/[.[\]]+/).filter((part) => part !== "")) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, step)) return undefined;
    member = (member as Readonly<Record<string, unknown>>)[step];
  }
  return typeof member === "object" && member !== null && "name" in member ? nameOf(member) : undefined;
}

function nameOf(fields: { readonly [F in keyof Name]?: unknown }): Name {
  const text = (value: unknown) => (typeof value === "string" ? value : "");
  return { name: text(fields.name), namespace: text(fields.namespace), clusterName: text(fields.clusterName) };
}

function services(known: Snapshot): readonly Name[] {
  return [...known.of(Destination)].flatMap(({ spec }) => (spec?.kubeService?.ref === undefined ? [] : [nameOf(spec.kubeService.ref)]));
}

const PARTS = ["name", "clusterName", "namespace"] as const;

/** The candidate that differs in one part, by little: in the name before the cluster before the namespace. */
function nearest(wanted: Name, candidates: readonly Name[]): string | undefined {
  for (const part of PARTS) {
    const alike = candidates.filter((candidate) => PARTS.every((other) => other === part || candidate[other] === wanted[other]));
    const value = nearestName(
      wanted[part],
      alike.map((candidate) => candidate[part]),
    );
    if (value !== undefined && value !== wanted[part]) return displayName({ ...wanted, [part]: value });
  }
  return undefined;
}
