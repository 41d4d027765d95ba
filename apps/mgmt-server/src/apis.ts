import { ApiDoc, isServedFrom } from "@isthmus/api";
import { displayName, keptText, refOf } from "@isthmus/core";
import type { Server } from "@isthmus/plane";
import { listPage, type Page, PageRefusal, type TypedPage } from "@isthmus/process";

/**
 * `/v1/apis` (`?cluster=`, `?namespace=`): what APIs there are in all clusters, for portals: one item for each ApiDoc. The cluster is the one whose agent has
 * reported it, and what serves it is of its own namespace there, whatever the ApiDoc says.
 */
export function apisPage({ store }: Pick<Server, "store">): Page {
  return (query) => {
    const [cluster, namespace] = [query.get("cluster"), query.get("namespace")];
    return listPage(function* () {
      for (const doc of store.snapshot.of(ApiDoc)) {
        if (cluster !== null && doc.metadata.clusterName !== cluster) continue;
        if (namespace === null || doc.metadata.namespace === namespace) yield summaryOf(doc);
      }
    })(query);
  };
}

/** `/v1/apis/{id}/schema`: the document of one of them, as it is. Throws PageRefusal where there is none. */
export function apiSchemaPage({ store }: Pick<Server, "store">): TypedPage {
  return (query) => {
    const [name = "", namespace = "", clusterName = "", ...more] = (query.get("id") ?? "").split("~");
    const doc = more.length > 0 ? undefined : store.snapshot.of(ApiDoc).get({ name, namespace, clusterName });
    if (doc === undefined) throw new PageRefusal(404, "there is no API with this id: /v1/apis lists them");
    const text = doc.spec?.openapi?.inlineString;
    if (text === undefined)
      throw new PageRefusal(404, `${displayName(refOf(doc))} has no OpenAPI document: condition SchemaRead of the ApiDoc says why`);
    return { contentType: isJson(text) ? "application/json" : "application/yaml", text: [text] };
  };
}

/** What lists say of an ApiDoc. Derived once, however often it is asked for. */
function summaryOf(doc: ApiDoc): object {
  const known = SUMMARIES.get(doc);
  if (known !== undefined) return known;
  const { name, namespace = "", clusterName = "" } = doc.metadata;
  const { openapi, grpc, graphql, servedBy = [] } = doc.spec ?? {};
  const text = openapi?.inlineString;
  const condition = doc.status?.conditions?.find(({ type }) => type === "SchemaRead");
  const summary = {
    id: [name, namespace, clusterName].join("~"),
    name,
    namespace,
    cluster: clusterName,
    ...(text === undefined ? {} : describedBy(text)),
    schema: text !== undefined ? "openapi" : grpc !== undefined ? "grpc" : graphql !== undefined ? "graphql" : "none",
    servedBy: servedBy.flatMap((one) => {
      const selector = one.destinationSelector?.selector;
      if (selector?.name === undefined || !isServedFrom(one, { namespace, clusterName })) return [];
      return [{ name: keptText(selector.name, MOST_LETTERS), namespace, cluster: clusterName }];
    }),
    ...(condition?.status === "False" ? { problem: { reason: shortText(condition.reason), message: shortText(condition.message) } } : {}),
  };
  SUMMARIES.set(doc, summary);
  return summary;
}

/** Title, version and the like of a document in JSON; YAML, which only users write here, is not read. */
function describedBy(text: string): object {
  const bytes = Buffer.byteLength(text);
  if (!isJson(text)) return { bytes };
  try {
    const { openapi, swagger, info } = JSON.parse(text) as Readonly<Record<string, unknown>>;
    const { title, version } = (typeof info === "object" && info !== null ? info : {}) as Readonly<Record<string, unknown>>;
    return { title: shortText(title), version: shortText(version), openapi: shortText(openapi ?? swagger), bytes };
  } catch {
    // A user's own words.
    return { bytes };
  }
}

function isJson(text: string): boolean {
  return keptText(text, 1_000).trimStart().startsWith("{");
}

function shortText(value: unknown): string | undefined {
  return typeof value === "string" ? keptText(value, MOST_LETTERS) : undefined;
}

const SUMMARIES = new WeakMap<ApiDoc, object>();
const MOST_LETTERS = 1_024;
