import type { AnyResource, Resource } from "@isthmus/core";
import { isMembers, type Members, membersAt } from "./apply/json.ts";
import type { SimulatedKind } from "./kinds.ts";
import type { Content } from "./object.ts";

/** The kind that a CustomResourceDefinition defines, in all versions that it serves; undefined when it lacks what names one. */
export function definedKind(definition: Resource): SimulatedKind | undefined {
  const spec = membersAt(definition as AnyResource, "spec");
  const { kind, plural } = membersAt(spec, "names");
  const group = spec["group"];
  const versions = versionsOf(spec).filter(({ served }) => served === true);
  // Objects are kept in the storage version, which comes first.
  const ordered = [...versions].sort((a, b) => Number(b["storage"] === true) - Number(a["storage"] === true));
  if (typeof kind !== "string" || typeof plural !== "string" || typeof group !== "string" || ordered.length === 0) return undefined;
  return {
    kind,
    plural,
    namespaced: spec["scope"] !== "Cluster",
    versions: ordered.map(({ name }) => `${group}/${String(name)}`),
    statusSubresource: ordered.some((version) => isMembers(membersAt(version, "subresources")["status"])),
    generation: true,
  };
}

/** A definition with the status that the API server's own controllers give it as soon as its names are accepted. */
export function established(content: Content, now: string): Content {
  if (content["status"] !== undefined) return content;
  const spec = membersAt(content, "spec");
  const conditions = ["NamesAccepted", "Established"].map((type) => ({
    type,
    status: "True",
    reason: type === "Established" ? "InitialNamesAccepted" : "NoConflicts",
    message: type === "Established" ? "the initial names have been accepted" : "no conflicts found",
    lastTransitionTime: now,
  }));
  const storedVersions = versionsOf(spec).flatMap(({ storage, name }) => (storage === true ? [name] : []));
  return { ...content, status: { acceptedNames: spec["names"], conditions, storedVersions } };
}

function versionsOf(spec: Members): readonly Members[] {
  return Array.isArray(spec["versions"]) ? spec["versions"].filter(isMembers) : [];
}
