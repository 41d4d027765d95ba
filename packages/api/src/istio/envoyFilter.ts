import type { Resource } from "@isthmus/core";
import { Type } from "@sinclair/typebox";
import { namedAlone } from "../shared/countedKind.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { fields, int32, listOf, mapOf, oneOfWords } from "../shared/schema.ts";
import { accessLogPatch, agentClusterPatch } from "./accessLogFilter.ts";
import { wasmPatch } from "./wasmFilter.ts";

// An EnvoyFilter can make a proxy run any code: nothing but what is said here is written, no matter who asks an agent for it.
const CLOSED = { additionalProperties: false };

/** The filters that features put before workloads, by their `@type`. */
const httpFilter = fields(
  {
    name: Type.String(),
    typed_config: Type.Object({ "@type": oneOfWords(["type.googleapis.com/envoy.extensions.filters.http.csrf.v3.CsrfPolicy"]) }),
  },
  { ...CLOSED, required: ["typed_config"] },
);

const subFilter = fields({ name: Type.String() }, CLOSED);
const filterChain = fields({ filter: fields({ name: Type.String(), subFilter }, CLOSED) }, CLOSED);
const match = fields({ context: oneOfWords(["SIDECAR_INBOUND"]), listener: fields({ filterChain }, CLOSED) }, CLOSED);
const patch = fields({ operation: oneOfWords(["INSERT_BEFORE"]), value: httpFilter }, CLOSED);
const httpFilterPatch = fields({ applyTo: oneOfWords(["HTTP_FILTER"]), match, patch }, { ...CLOSED, required: ["applyTo"] });
// Without labels it would be about every pod of its namespace.
const workloadSelector = fields({ labels: mapOf(Type.String(), { minProperties: 1 }) }, { ...CLOSED, required: ["labels"] });

const NAME = { apiVersion: "networking.istio.io/v1alpha3", kind: "EnvoyFilter", plural: "envoyfilters" } as const;

// What is about some pods, each with its labels; and what is about all, and so can only add the agent.
const ofWorkload = fields(
  { workloadSelector, configPatches: Type.Union([listOf(httpFilterPatch), listOf(accessLogPatch), listOf(wasmPatch)]), priority: int32() },
  { ...CLOSED, required: ["workloadSelector"] },
);
const ofMesh = fields({ configPatches: listOf(agentClusterPatch, { maxItems: 1 }) }, { ...CLOSED, required: ["configPatches"] });

const writtenForm = defineKind({ ...NAME, fields: { spec: Type.Union([ofWorkload, ofMesh]) }, isClosed: true });

/**
 * Changes what Istio makes of Envoy's configuration for some pods of its namespace. Users have others, of any form. Istio serves it in
 * this version alone. Source: istio.io/docs/reference/config/networking/envoy-filter.
 */
export const EnvoyFilter = { ...defineKind({ ...NAME, fields: { spec: fields({}) } }), writtenForm, runsCode, reportedForm: namedAlone };
/** As it is written. */
export type EnvoyFilter = ReturnType<typeof writtenForm.parse>;

/** Whether one that `writtenForm` has parsed has proxies ask for Wasm filters. */
function runsCode(resource: Resource): boolean {
  const { configPatches = [] } = ((resource as EnvoyFilter).spec ?? {}) as {
    readonly configPatches?: readonly { readonly patch?: object }[];
  };
  return configPatches.some(({ patch = {} }) => "value" in patch && Object.hasOwn(Object(patch.value), "config_discovery"));
}

/** One filter as Envoy's configuration has it. */
export type HttpFilter = Value<typeof httpFilter>;
