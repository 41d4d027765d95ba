import { ineffectiveFields, lastAcceptedSpecOf, WasmDeployment, type WasmDeploymentSpec } from "@isthmus/api";
import { type Finding, invalidFinding } from "../../findings.ts";
import { memoizeRow } from "../../incremental/memoizeRow.ts";
import { fieldMessage } from "../ineffective.ts";
import { type SpecInForce, specInForce } from "../lastAccepted.ts";

/** What is in force of a WasmDeployment (docs/decisions/0120). */
export type WasmDeploymentForm = SpecInForce<WasmDeploymentSpec>;

/** Where no spec is known that has no errors, nothing: a guess could run what nobody asked for. */
export const wasmDeploymentFormOf = memoizeRow((deployment: WasmDeployment): WasmDeploymentForm => {
  const { spec = {}, status } = deployment;
  return specInForce({ spec, last: lastAcceptedSpecOf(WasmDeployment, deployment), lastAccepted: status?.lastAccepted }, specFindings);
});

const SPEC = WasmDeployment.definition.fields.spec;

/** One filter of a WasmDeployment. */
export type DeployedFilter = NonNullable<WasmDeploymentSpec["filters"]>[number];

function specFindings(spec: WasmDeploymentSpec): readonly Finding[] {
  const { filters = [] } = spec;
  const size = filters.reduce((sum, filter) => sum + (configurationOf(filter)?.length ?? 0), 0);
  return [
    ...ineffectiveFields(SPEC, spec, "spec").map((field) =>
      invalidFinding(
        "SelectorNotUnderstood",
        fieldMessage(field, "nothing is run, because without the field it could be more than was meant"),
      ),
    ),
    ...(filters.length === 0 ? [problem("spec.filters: is empty: name at least one filter")] : []),
    ...filters.flatMap((filter, i) => filterFindings(filter, `spec.filters[${i}]`)),
    ...(size > MOST_CONFIGURATION
      ? [problem(`spec.filters: staticFilterConfig of all filters has ${size} letters: at most ${MOST_CONFIGURATION} fit`)]
      : []),
  ];
}

// What agents give to proxies for an EnvoyFilter is an annotation of it, and annotations have 256 KiB.
const MOST_CONFIGURATION = 32 * 1024;

const SOURCES = ["localPathSource", "httpUriSource", "wasmImageSource"] as const;

function filterFindings(filter: DeployedFilter, path: string): readonly Finding[] {
  const { localPathSource, httpUriSource, wasmImageSource, rootId = "", insertBeforeFilter = "" } = filter;
  const given = SOURCES.filter((source) => filter[source] !== undefined);
  if (given.length !== 1) {
    const what = given.length === 0 ? "has no source" : `has ${given.join(" and ")}`;
    return [problem(`${path}: ${what}: set one of ${SOURCES.join(", ")}`)];
  }
  return [
    ...(localPathSource === undefined || /^\/[\x21-\x7e]+$/.test(localPathSource)
      ? []
      : [problem(`${path}.localPathSource: is no path such as /var/lib/filters/header.wasm`)]),
    ...(httpUriSource === undefined ? [] : httpFindings(httpUriSource, `${path}.httpUriSource`)),
    ...(wasmImageSource === undefined || isImage(wasmImageSource.wasmImageTag ?? "")
      ? []
      : [problem(`${path}.wasmImageSource.wasmImageTag: is no image with its registry, such as registry.example.com/filters/header:v1`)]),
    ...(wasmImageSource === undefined && rootId === ""
      ? [problem(`${path}.rootId: is required unless wasmImageSource is set: name the plugin of the module`)]
      : []),
    ...(insertBeforeFilter === "" || /^[a-zA-Z0-9_.-]+$/.test(insertBeforeFilter)
      ? []
      : [problem(`${path}.insertBeforeFilter: is no name of a filter, such as envoy.filters.http.router`)]),
    ...(filter.staticFilterConfig === undefined || configurationOf(filter) !== undefined
      ? []
      : [problem(`${path}.staticFilterConfig: only a StringValue with a text, and a Struct with an object, are supported`)]),
  ];
}

function httpFindings({ uri = "", sha = "" }: NonNullable<DeployedFilter["httpUriSource"]>, path: string): readonly Finding[] {
  const url = URL.canParse(uri) ? new URL(uri) : undefined;
  const isFetched = (url?.protocol === "http:" || url?.protocol === "https:") && url.username === "" && url.password === "";
  return [
    ...(isFetched ? [] : [problem(`${path}.uri: is no http or https URL without a user, such as https://example.com/header.wasm`)]),
    ...(/^[0-9a-fA-F]{64}$/.test(sha) ? [] : [problem(`${path}.sha: is not a SHA-256: set the 64 hexadecimal digits of the module's`)]),
  ];
}

/** As agents read it: host with a dot or a port, repository, and tag or digest. Source: OCI Distribution Specification. */
function isImage(image: string): boolean {
  const slash = image.indexOf("/");
  const host = image.slice(0, Math.max(slash, 0));
  const isHost = /^[a-zA-Z0-9][a-zA-Z0-9.-]*(:\d{1,5})?$/.test(host) && /[.:]|^localhost$/.test(host);
  return isHost && /^[a-z0-9][a-zA-Z0-9._/:@-]*$/.test(image.slice(slash + 1));
}

/** What the module reads; undefined where nothing is set, or nothing that is supported. */
export function configurationOf({ staticFilterConfig }: DeployedFilter): string | undefined {
  if (staticFilterConfig === undefined) return undefined;
  const { "@type": type = "", value } = staticFilterConfig;
  if (type === `${ANY}StringValue`) return typeof value === "string" ? value : undefined;
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
  return type === `${ANY}Struct` && isObject ? JSON.stringify(value) : undefined;
}

const ANY = "type.googleapis.com/google.protobuf.";

function problem(message: string): Finding {
  return invalidFinding("WasmFilterInvalid", message);
}
