import { kindOf, parseOffline } from "@isthmus/api";
import { type AnyResource, InvalidResource, type Resource, snapshotOf } from "@isthmus/core";
import { soundTranslation } from "@isthmus/testing";
import { statusesOf, type TranslateOptions } from "@isthmus/translators";

/** What a case is about, and so which objects are expected of it. */
export type Stage = "discovery" | "networking";

/** Translates the documents of an input: what is written, then, of networking, the statuses. */
export function translateInput(documents: readonly AnyResource[], stage: Stage): readonly AnyResource[] {
  const world = soundTranslation(snapshotOf(documents.flatMap(parsed)), { ...flagsOf(documents), stage, ages: "CREATED" });
  const outputs = stage === "discovery" ? world.discovery : world.networking;
  const written = [...outputs].map(({ resource }): AnyResource => ({ ...resource }));
  if (stage === "discovery") return written;
  const statuses = statusesOf(world).map(({ ref: { apiVersion, kind, name, namespace }, status }) => {
    return { apiVersion, kind, metadata: { name, namespace }, status };
  });
  return [...written, ...statuses];
}

/** What a document of `kind: Options` stands for: flags of the command line. */
function flagsOf(documents: readonly AnyResource[]): Omit<TranslateOptions, "stage" | "ages"> {
  const flags: Readonly<Record<string, unknown>> = documents.find(({ kind }) => kind === "Options") ?? {};
  const { podNamespace, agentCluster, disallowIntersectingConfig } = flags;
  return {
    namespace: typeof podNamespace === "string" ? podNamespace : "gloo-mesh",
    ...(typeof agentCluster === "string" ? { agentCluster } : {}),
    ...(typeof disallowIntersectingConfig === "boolean" ? { disallowIntersectingConfig } : {}),
  };
}

/** The object as translation gets it from a file; none for a document that is no object of a known kind. */
function parsed(document: AnyResource): readonly Resource[] {
  const kind = kindOf(document.apiVersion, document.kind);
  if (kind === undefined) return [];
  try {
    return [parseOffline(kind, document)];
  } catch (error) {
    if (error instanceof InvalidResource) return [];
    throw error;
  }
}
