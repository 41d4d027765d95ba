import { Type } from "@sinclair/typebox";
import { projectedMetadata } from "../kubernetes/project.ts";
import { conditionColumns, conditionStatus } from "../shared/approval.ts";
import { defineKind } from "../shared/defineKind.ts";
import { fields, listOf, userFields } from "../shared/schema.ts";
import { servedBy } from "./servedBy.ts";

/** On ApiDocs that agents have made, with SCHEMA_REPORTER as its value. Source: ApiDocs of the published product. */
export const RECONCILER_LABEL = "reconciler.mesh.gloo.solo.io/name";
/** The value of RECONCILER_LABEL. */
export const SCHEMA_REPORTER = "schema-reporter-service";

/** The schema of an API, and what serves it: written by users, or by an agent that has read it. Source: the CRDs of Gloo Platform 2.x. */
export const ApiDoc = defineKind(
  {
    apiVersion: "apimanagement.gloo.solo.io/v2",
    kind: "ApiDoc",
    plural: "apidocs",
    fields: {
      spec: userFields(
        {
          openapi: userFields(
            { inlineString: Type.String({ description: "The document, as JSON or YAML." }) },
            { description: "OpenAPI." },
          ),
          grpc: userFields({ descriptors: Type.String({ description: "FileDescriptorSet, as base64." }) }, { description: "gRPC." }),
          graphql: userFields(
            { schemaDefinition: Type.String({ description: "The schema, in GraphQL's language." }) },
            { description: "GraphQL." },
          ),
          servedBy: listOf(servedBy, { description: "Services that serve the API.", maxItems: 64 }),
        },
        { description: "The schema of an API. Absent in an ApiDoc of an agent that has not read one yet." },
      ),
      status: fields(conditionStatus("Condition SchemaRead of ApiDocs of agents: whether the schema is as it was read last, or why not.")),
    },
    crd: {
      description: "The schema of an API, and the Services that serve it.",
      shortNames: ["ad"],
      categories: ["gloo-mesh"],
      singular: "apidoc",
      printerColumns: conditionColumns("SchemaRead"),
    },
  },
  (doc) => ({ ...doc, metadata: projectedMetadata(doc.metadata) }),
);

export type ApiDoc = ReturnType<typeof ApiDoc.parse>;
