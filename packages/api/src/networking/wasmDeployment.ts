import { Type } from "@sinclair/typebox";
import { approvalColumns, approvalFields } from "../shared/approval.ts";
import { defineKind, type Value } from "../shared/defineKind.ts";
import { lastAcceptedSpec } from "../shared/lastAcceptedSpec.ts";
import { fields, listOf, mapOf, oneOfWords, uint32, userFields } from "../shared/schema.ts";
import { workloadSelector } from "../shared/selectors.ts";

// Each filter is written once for each workload: what it may hold at most is multiplied by these.
const MOST_FILTERS = 16;
const LONGEST_NAME = 256;
const LONGEST_SOURCE = 1024;

const httpUriSource = userFields(
  {
    uri: Type.String({ maxLength: LONGEST_SOURCE, description: "Where the agent fetches the module, by http or https. Required." }),
    sha: Type.String({ description: "SHA-256 of the module, 64 hexadecimal digits. Required." }),
  },
  { description: "A module on an HTTP server. Required unless another source is set." },
);

const wasmImageSource = userFields(
  {
    wasmImageTag: Type.String({
      maxLength: 512,
      description:
        "Image of an OCI registry, with its host: registry.example.com/filters/header:v1, or with @sha256: and a digest. Required.",
    }),
  },
  { description: "A module in an OCI registry. Required unless another source is set." },
);

const staticFilterConfig = userFields(
  {
    "@type": Type.String({
      description: "type.googleapis.com/google.protobuf.StringValue, or type.googleapis.com/google.protobuf.Struct. Required.",
    }),
    value: Type.Unsafe<unknown>({ "x-kubernetes-preserve-unknown-fields": true, description: "The text, or the object. Required." }),
  },
  {
    description:
      "What the module reads when it starts: a text, or an object that it gets as JSON. At most 32 KiB. Default: it reads nothing.",
  },
);

const filter = userFields(
  {
    localPathSource: Type.String({
      maxLength: LONGEST_SOURCE,
      description: "Path of a module in the containers of the proxies. Required unless another source is set.",
    }),
    httpUriSource,
    wasmImageSource,
    staticFilterConfig,
    dynamicFilterConfig: Type.String({ unsupported: "not supported: use staticFilterConfig" }),
    rootId: Type.String({ maxLength: LONGEST_NAME, description: "Which plugin of the module. Required unless wasmImageSource is set." }),
    vmId: Type.String({
      maxLength: LONGEST_NAME,
      description: "Filters with the same module and vmId share a virtual machine. Empty: as any other one.",
    }),
    filterContext: oneOfWords(["ANY", "SIDECAR_INBOUND", "SIDECAR_OUTBOUND", "GATEWAY"], {
      description: "Which requests the filter is for: those to the workload, those from it, or those through a gateway. Default: ANY.",
    }),
    insertBeforeFilter: Type.String({
      maxLength: LONGEST_NAME,
      description: "HTTP filter of the proxy before which this one is inserted. Default: `envoy.filters.http.router`.",
    }),
    failClosed: Type.Boolean({
      description:
        "Requests are denied while the module is not there, or after it has failed. Default: false. Then they pass as if the filter were not there.",
    }),
  },
  { description: "One filter, with exactly one source: localPathSource, httpUriSource or wasmImageSource." },
);

const wasmDeploymentSpec = userFields(
  {
    workloadSelector: listOf(workloadSelector, {
      description: "Workloads whose proxies run the filters: at least one entry must match. Empty: all workloads.",
      maxItems: 256,
    }),
    filters: listOf(filter, { description: "Filters, in the order in which requests reach them. Required.", maxItems: MOST_FILTERS }),
    weight: uint32({
      description:
        "Requests reach the filters of WasmDeployments with a higher weight first; of equal weights, those of the older one. Default: 0.",
    }),
  },
  { description: "Wasm filters for the proxies of some workloads." },
);

export type WasmDeploymentSpec = Value<typeof wasmDeploymentSpec>;

const workloadState = oneOfWords(["DEPLOYMENT_PENDING", "FILTERS_DEPLOYED", "DEPLOYMENT_FAILED"], {
  description:
    "DEPLOYMENT_PENDING: a module is not there yet, or the agent or proxies have not answered what is in force now. FILTERS_DEPLOYED: all proxies that are connected run the filters. DEPLOYMENT_FAILED: not written, or a proxy refuses a filter.",
});

/** Which Wasm filters some workloads run. */
export const WasmDeployment = defineKind({
  apiVersion: "networking.enterprise.mesh.gloo.solo.io/v1beta1",
  kind: "WasmDeployment",
  plural: "wasmdeployments",
  fields: {
    spec: wasmDeploymentSpec,
    status: fields({
      ...approvalFields,
      error: Type.String({ description: "The first error of a workload or of the object. Absent without one." }),
      workloadStates: mapOf(workloadState, {
        description: "What agents report of each workload, by `name.namespace.` of the Workload: at most 1,000, those with problems first.",
      }),
      targetCount: uint32({ description: "Number of workloads that it selects." }),
      acceptedCount: uint32({ description: "Number of those for which it is written." }),
      lastAccepted: lastAcceptedSpec(
        "The last spec without errors. It stays in force while a later spec has errors. Absent for a spec larger than 256 KiB: of that nothing stays.",
      ),
    }),
  },
  crd: {
    description: "Wasm filters for the proxies of some workloads, served by the agent of their cluster.",
    shortNames: ["wd"],
    categories: ["gloo-mesh"],
    singular: "wasmdeployment",
    printerColumns: approvalColumns,
  },
});

export type WasmDeployment = ReturnType<typeof WasmDeployment.parse>;
